import { Alert, Card, Grid, Slider, Stat } from "$ui4a/ui";
import { Chart } from "$ui4a/charts";

const euros = (n: number) => "€" + Math.round(n).toLocaleString("en");

export default function Heating() {
  const [price, setPrice] = useState(0.12);
  const data = Array.from({ length: 21 }, (_, year) => ({ year, pump: 16000 + 1100 * year, gas: 8000 + 18000 * price * year }));
  const cheaper = data.find((d) => d.pump < d.gas);
  return (
    <Card title="Heat pump or gas boiler?" subtitle="Purchase and running costs over 20 years">
      <Slider label="Price of gas per kWh" unit="€" min={0.06} max={0.24} step={0.01} value={price} onChange={setPrice} />
      <Chart kind="line" label="What both have cost, by year" unit="€" data={data} x="year" y={["pump", "gas"]} names={{ pump: "Heat pump", gas: "Gas boiler" }} />
      <Grid>
        <Stat label="Heat pump after 20 years" value={euros(data[20].pump)} />
        <Stat label="Gas boiler after 20 years" value={euros(data[20].gas)} />
      </Grid>
      <Alert>{cheaper ? `The heat pump has become cheaper after ${cheaper.year} years.` : "The heat pump stays more expensive for all 20 years."}</Alert>
    </Card>
  );
}
