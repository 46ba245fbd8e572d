import { Card, Grid, Slider, Stat } from "$ui4a/ui";
import { Chart } from "$ui4a/charts";

export default function Compound() {
  const [rate, setRate] = useState(4);
  const [years, setYears] = useState(20);
  const data = Array.from({ length: years + 1 }, (_, year) => ({ year, amount: Math.round(3000 * (1 + rate / 100) ** year) }));
  const sum = data[years].amount;
  return (
    <Card title="$3000 with compound interest">
      <Slider label="Yearly rate" unit="%" min={0} max={10} step={0.5} value={rate} onChange={setRate} />
      <Slider label="Years" min={1} max={40} value={years} onChange={setYears} />
      <Chart kind="line" label="Growth of the amount" data={data} x="year" y="amount" unit="$" />
      <Grid>
        <Stat label="Final amount" value={"$" + sum.toLocaleString()} />
        <Stat label="Interest earned" value={"$" + (sum - 3000).toLocaleString()} />
      </Grid>
    </Card>
  );
}
