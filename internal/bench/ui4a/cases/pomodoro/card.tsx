import { Button, Card, RadioGroup } from "$ui4a/ui";

const lengths = { Work: 1500, Break: 300 };

export default function Pomodoro() {
  const [phase, setPhase] = useState("Work");
  const [left, setLeft] = useState(1500);
  const [running, setRunning] = useState(false);
  useEffect(() => {
    if (!running) return;
    const ticking = setInterval(() => setLeft((s) => Math.max(0, s - 1)), 1000);
    return () => clearInterval(ticking);
  }, [running]);
  const reset = (p: string) => { setPhase(p); setLeft(lengths[p]); setRunning(false); };
  const two = (n: number) => String(n).padStart(2, "0");
  return (
    <Card title="Pomodoro" footer={<><Button onClick={() => setRunning(!running)}>{running ? "Pause" : "Start"}</Button><Button tone="plain" disabled={!running && left === lengths[phase]} onClick={() => reset(phase)}>Reset</Button></>}>
      <p>Work until the time is up, then choose a short break.</p>
      <RadioGroup label="Phase" options={["Work", "Break"]} value={phase} onChange={reset} row />
      <p role="timer" className="text-5xl text-center tabular-nums">{two(Math.floor(left / 60))}:{two(left % 60)}</p>
    </Card>
  );
}
