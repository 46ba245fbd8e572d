import { Badge, Button, Card, Grid, NumberField, Stat, Table } from "$ui4a/ui";

const first = [{ day: "27 November", upper: 132, lower: 84 }, { day: "28 November", upper: 145, lower: 91 }, { day: "29 November", upper: 128, lower: 80 }];

export default function Pressure() {
  const [rows, setRows] = useState(first);
  const [upper, setUpper] = useState(130);
  const [lower, setLower] = useState(85);
  const mean = (key: "upper" | "lower") => Math.round(rows.reduce((s, r) => s + r[key], 0) / rows.length);
  return (
    <Card title="Blood pressure" footer={<Button onClick={() => setRows([...rows, { day: "New reading", upper, lower }])}>Add reading</Button>}>
      <Table label="Readings" rows={rows} columns={[{ key: "day", label: "Day" }, { key: "upper", label: "Upper", render: (v) => <>{v} {v > 140 && <Badge tone="warn">high</Badge>}</> }, { key: "lower", label: "Lower" }]} />
      <Grid>
        <Stat label="Upper average" value={mean("upper")} />
        <Stat label="Lower average" value={mean("lower")} />
        <NumberField label="Upper value" min={60} max={250} value={upper} onChange={setUpper} />
        <NumberField label="Lower value" min={30} max={150} value={lower} onChange={setLower} />
      </Grid>
    </Card>
  );
}
