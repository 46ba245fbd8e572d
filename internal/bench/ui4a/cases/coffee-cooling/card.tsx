import { Card, Slider, Stat } from "$ui4a/ui";
import { Chart } from "$ui4a/charts";

const degrees = (t: number) => Math.round(20 + 70 * Math.exp(-0.05 * t));
const curve = Array.from({ length: 13 }, (_, i) => ({ minute: i * 5, degrees: degrees(i * 5) }));

export default function Coffee() {
  const [t, setT] = useState(10);
  const now = degrees(t);
  return (
    <Card title="How your coffee cools" subtitle="From 90 °C in a room of 20 °C">
      <Slider label="Minutes" min={0} max={60} value={t} onChange={setT} />
      <Stat label="Temperature" value={now} unit="°C" delta={now > 65 ? "Too hot" : now >= 50 ? "Just right" : "Too cold"} />
      <Chart kind="line" label="Temperature by minute" data={curve} x="minute" y="degrees" unit="°C" />
    </Card>
  );
}
