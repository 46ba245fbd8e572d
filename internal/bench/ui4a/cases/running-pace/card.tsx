import { Button, Card, Grid, NumberField, Row, Stat } from "$ui4a/ui";

const two = (n: number) => String(n).padStart(2, "0");
const clock = (seconds: number) => {
  const s = Math.round(seconds), h = Math.floor(s / 3600), m = Math.floor(s / 60) % 60;
  return (h ? `${h}:${two(m)}` : m) + ":" + two(s % 60);
};

export default function Pace() {
  const [km, setKm] = useState(10);
  const [minutes, setMinutes] = useState(52);
  const [seconds, setSeconds] = useState(30);
  const time = minutes * 60 + seconds;
  const pace = time / km;
  return (
    <Card title="Running pace">
      <Row>
        {[5, 10, 21.1].map((d) => <Button key={d} tone="plain" pressed={km === d} onClick={() => setKm(d)}>{d} km</Button>)}
      </Row>
      <Grid cols={3}>
        <NumberField label="Distance" unit="km" min={0.1} max={500} step={0.1} value={km} onChange={setKm} />
        <NumberField label="Minutes" min={0} max={6000} value={minutes} onChange={setMinutes} />
        <NumberField label="Seconds" min={0} max={59} value={seconds} onChange={setSeconds} />
      </Grid>
      <Grid cols={3} min={100}>
        <Stat label="Pace per km" value={clock(pace)} />
        <Stat label="Speed" value={time ? (km / (time / 3600)).toFixed(1) : "–"} unit="km/h" />
        <Stat label="A half marathon would take" value={clock(pace * 21.1)} />
      </Grid>
    </Card>
  );
}
