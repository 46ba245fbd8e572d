import { Button, Card, RadioGroup } from "$ui4a/ui";
import { Coffee } from "$ui4a/icons";

const teas = { 绿茶: { minutes: 2, heat: 80 }, 乌龙茶: { minutes: 3, heat: 95 }, 红茶: { minutes: 4, heat: 100 } };

export default function Tea() {
  const [tea, setTea] = useState("乌龙茶");
  const [gone, setGone] = useState(0);
  const [running, setRunning] = useState(false);
  useEffect(() => {
    if (!running) return;
    const ticking = setInterval(() => setGone((s) => s + 1), 1000);
    return () => clearInterval(ticking);
  }, [running]);
  const left = Math.max(0, teas[tea].minutes * 60 - gone);
  const stop = () => { setRunning(false); setGone(0); };
  return (
    <Card title="泡茶计时器" icon={<Coffee />} footer={<><Button disabled={running} onClick={() => setRunning(true)}>开始</Button><Button tone="plain" onClick={stop}>停止</Button></>}>
      <RadioGroup label="请选择茶叶" options={Object.entries(teas).map(([t, { heat }]) => ({ value: t, label: `${t}，水温${heat}度` }))} value={tea} onChange={(t) => { setTea(t); stop(); }} />
      <p role="timer" className="text-5xl text-center tabular-nums">{Math.floor(left / 60)}:{String(left % 60).padStart(2, "0")}</p>
    </Card>
  );
}
