import { Card, Grid, Stat, Table } from "$ui4a/ui";
import { Chart } from "$ui4a/charts";

const costs = [
  { id: "flights", category: "Flights", amount: 612 },
  { id: "camper", category: "Camper van", amount: 980 },
  { id: "food", category: "Food", amount: 415.5 },
  { id: "fuel", category: "Fuel", amount: 268.4 },
  { id: "springs", category: "Hot springs", amount: 124 },
];
const total = costs.reduce((s, c) => s + c.amount, 0);
const money = (x: number) => "$" + x.toFixed(2);

export default function IcelandCosts() {
  return (
    <Card title="What the Iceland trip cost">
      <Chart kind="donut" label="Cost by category" data={costs} x="category" y="amount" unit="$" />
      <Grid cols={2}>
        <Stat label="Total" value={money(total)} />
        <Stat label="Per person, for two" value={money(total / 2)} />
      </Grid>
      <Table
        label="Costs by category"
        sort
        rows={costs}
        columns={[{ key: "category", label: "Category" }, { key: "amount", label: "Amount", render: (v: number) => money(v) }]}
      />
    </Card>
  );
}
