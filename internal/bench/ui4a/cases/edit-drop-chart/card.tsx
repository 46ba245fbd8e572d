import { Card, Stat, Table } from "$ui4a/ui";

const data = [{ month: "June", mm: 41 }, { month: "July", mm: 18 }, { month: "August", mm: 63 }, { month: "September", mm: 90 }];

export default function Rain() {
  return (
    <Card title="Rainfall in the orchard">
      <Table label="Rainfall by month" rows={data} columns={[{ key: "month", label: "Month" }, { key: "mm", label: "Rain in mm" }]} sort />
      <Stat label="Average of the four months" value={data.reduce((s, d) => s + d.mm, 0) / data.length} unit="mm" />
    </Card>
  );
}
