import { Button, Card, RadioGroup, Switch } from "$ui4a/ui";
import { AlarmClock } from "$ui4a/icons";

const minutes = { weich: 4, wachsweich: 6, hart: 9 };

export default function Eieruhr() {
  const [egg, setEgg] = useState("wachsweich");
  const [large, setLarge] = useState(false);
  const [gone, setGone] = useState(0);
  const [running, setRunning] = useState(false);
  useEffect(() => {
    if (!running) return;
    const ticking = setInterval(() => setGone((s) => s + 1), 1000);
    return () => clearInterval(ticking);
  }, [running]);
  const left = Math.max(0, 60 * (minutes[egg] + (large ? 1 : 0)) - gone);
  const stop = () => { setRunning(false); setGone(0); };
  return (
    <Card title="Eieruhr" icon={<AlarmClock />} footer={<><Button disabled={running} onClick={() => setRunning(true)}>Start</Button><Button tone="plain" onClick={stop}>Stopp</Button></>}>
      <RadioGroup label="Wie soll das Ei werden?" options={["weich", "wachsweich", "hart"]} value={egg} onChange={(e) => { setEgg(e); stop(); }} row />
      <Switch label="Großes Ei" hint="Eine Minute länger" checked={large} onChange={(on) => { setLarge(on); stop(); }} />
      <p role="timer" className="text-5xl text-center tabular-nums">{Math.floor(left / 60)}:{String(left % 60).padStart(2, "0")}</p>
    </Card>
  );
}
