import { Alert, Card, Grid, Slider, Stat } from "$ui4a/ui";
import { Chart } from "$ui4a/charts";

const gauge = [
  { time: "08:00", cm: 262 },
  { time: "10:00", cm: 281 },
  { time: "12:00", cm: 305 },
  { time: "14:00", cm: 327 },
  { time: "16:00", cm: 349 },
  { time: "18:00", cm: 362 },
  { time: "20:00", cm: 368 },
];

export default function River() {
  const [threshold, setThreshold] = useState(340);
  const first = gauge.find((g) => g.cm >= threshold);
  return (
    <Card title="The river at the mill, last 12 hours">
      <Chart kind="area" label="Gauge in cm, by the hour" data={gauge.map((g) => ({ ...g, hour: g.time.slice(0, 2) }))} x="hour" y="cm" unit="cm" />
      <Slider label="Warning threshold" unit="cm" min={300} max={400} step={10} value={threshold} onChange={setThreshold} />
      <Alert tone={first ? "warn" : "success"}>{first ? `The first reading at or above it was at ${first.time}.` : "None of the readings was at or above it."}</Alert>
      <Grid cols={2}>
        <Stat label="Highest reading" value={368} unit="cm" />
        <Stat label="Risen altogether" value={368 - 262} unit="cm" />
      </Grid>
    </Card>
  );
}
