import { Card, Grid, Slider, Stat } from "$ui4a/ui";
import { Chart } from "$ui4a/charts";

export default function Solar() {
  const [own, setOwn] = useState(40);
  const gain = 5200 * ((own / 100) * 0.31 + (1 - own / 100) * 0.08);
  const data = Array.from({ length: 21 }, (_, year) => ({ year: String(year), balance: Math.round(gain * year - 9800) }));
  return (
    <Card title="When do the panels pay back?" subtitle="€9,800 for 5,200 kWh a year; 0.31 €/kWh saved, 0.08 €/kWh fed in">
      <Slider label="Used ourselves" unit="%" min={10} max={90} value={own} onChange={setOwn} />
      <Grid cols={2}>
        <Stat label="Yearly gain" value={"€" + gain.toFixed(2)} />
        <Stat label="Payback" value={(9800 / gain).toFixed(1)} unit="years" />
      </Grid>
      <Chart kind="line" label="Up or down over 20 years" data={data} x="year" y="balance" unit="€" />
    </Card>
  );
}
