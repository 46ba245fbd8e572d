import { Button, Card, Progress, Slider, Stat } from "$ui4a/ui";
import { Dumbbell } from "$ui4a/icons";

export default function Workout() {
  const [rounds, setRounds] = useState(6);
  const [gone, setGone] = useState(-1);
  const running = gone >= 0 && gone < rounds * 60;
  useEffect(() => {
    if (!running) return;
    const ticking = setInterval(() => setGone((s) => s + 1), 1000);
    return () => clearInterval(ticking);
  }, [running]);
  const second = gone % 60;
  const squats = second < 40;
  return (
    <Card title="Squats" subtitle="40 seconds of Squats, 20 seconds of Rest" icon={<Dumbbell />}
      footer={running ? <Button tone="danger" onClick={() => setGone(-1)}>Stop</Button> : <Button onClick={() => setGone(0)}>Start workout</Button>}>
      {!running && <Slider label="Rounds" min={1} max={10} value={rounds} onChange={setRounds} />}
      {!running && <Stat label="It takes in all" value={rounds + ":00"} unit="min" />}
      {running && <Stat label={`Round ${Math.floor(gone / 60) + 1} of ${rounds}: ${squats ? "Squats" : "Rest"}`} value={(squats ? 40 : 60) - second} unit="seconds" />}
      {running && <Progress label="Whole workout" value={gone} max={rounds * 60} />}
    </Card>
  );
}
