import { Alert, Badge, Button, Card, Grid } from "$ui4a/ui";

const words = ["妈", "麻", "马", "骂"];
const tones = ["第一声", "第二声", "第三声", "第四声"];

export default function Tones() {
  const [at, setAt] = useState(0);
  const [picked, setPicked] = useState("");
  const [score, setScore] = useState(0);
  const pick = (t: string) => { setPicked(t); if (t === tones[at]) setScore(score + 1); };
  const next = () => { setAt((at + 1) % 4); setPicked(""); if (at === 3) setScore(0); };
  return (
    <Card title="声调练习：这个字读第几声？" action={<Badge>得分 {score} / 4</Badge>}>
      <p className="text-5xl text-center">{words[at]}</p>
      <Grid>
        {tones.map((t) => <Button key={t} tone="plain" disabled={!!picked} pressed={t === picked} onClick={() => pick(t)}>{t}</Button>)}
      </Grid>
      {picked && <Alert tone={picked === tones[at] ? "success" : "warn"}>{picked === tones[at] ? "答对了！" : `不对，这个字读${tones[at]}。`}</Alert>}
      {picked && <Button onClick={next}>{at === 3 ? "重新开始" : "下一个"}</Button>}
    </Card>
  );
}
