import { Badge, Card, Checkbox, Grid, Stat, Table } from "$ui4a/ui";

const items = [
  { item: "Hall", planned: 900, spent: 750 },
  { item: "Sheet music", planned: 250, spent: 310 },
  { item: "Conductor", planned: 1800, spent: 1500 },
  { item: "Posters", planned: 120, spent: 95 },
].map((i) => ({ ...i, left: i.planned - i.spent }));
const sum = (key: "planned" | "spent" | "left") => "$" + items.reduce((s, i) => s + i[key], 0);

export default function ChoirBudget() {
  const [only, setOnly] = useState(false);
  return (
    <Card title="The choir's budget">
      <Grid cols={3} min={90}>
        <Stat label="Planned" value={sum("planned")} />
        <Stat label="Spent" value={sum("spent")} />
        <Stat label="Left" value={sum("left")} />
      </Grid>
      <Checkbox label="Only overspent" checked={only} onChange={setOnly} />
      <Table
        label="Planned and spent so far, in dollars"
        rows={items.filter((i) => !only || i.left < 0)}
        columns={[
          { key: "item", label: "Item" },
          { key: "planned", label: "Planned" },
          { key: "spent", label: "Spent" },
          { key: "left", label: "Left", render: (n: number) => (n < 0 ? <>{n} <Badge tone="danger">overspent</Badge></> : n) },
        ]}
      />
    </Card>
  );
}
