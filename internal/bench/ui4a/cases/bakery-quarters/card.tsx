import { Card, Grid, RadioGroup, Stat } from "$ui4a/ui";
import { Chart } from "$ui4a/charts";

const sales = [
  { quarter: "Q1", euro: 41200 },
  { quarter: "Q2", euro: 38950 },
  { quarter: "Q3", euro: 35600 },
  { quarter: "Q4", euro: 52400 },
];
const total = sales.reduce((s, q) => s + q.euro, 0);
const data = sales.map((q) => ({ ...q, share: Number(((100 * q.euro) / total).toFixed(1)) }));

export default function BakerySales() {
  const [unit, setUnit] = useState("Euros");
  const euros = unit === "Euros";
  return (
    <Card title="Bakery sales of the year">
      <RadioGroup label="Show as" options={["Euros", "Share of the year"]} value={unit} onChange={setUnit} row />
      <Chart kind="bar" label="Sales by quarter" data={data} x="quarter" y={euros ? "euro" : "share"} unit={euros ? "€" : "%"} />
      <Grid cols={2}>
        <Stat label="Total" value={"€" + total.toLocaleString("en")} />
        <Stat label="Best quarter" value="Q4" />
      </Grid>
    </Card>
  );
}
