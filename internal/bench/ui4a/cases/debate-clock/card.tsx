import { Button, Card, Grid, Row, Stat } from "$ui4a/ui";

const names = ["Farah", "Jonas"];
const clock = (s: number) => Math.floor(s / 60) + ":" + String(s % 60).padStart(2, "0");

export default function Debate() {
  const [left, setLeft] = useState([180, 180]);
  const [who, setWho] = useState(-1);
  useEffect(() => {
    if (who < 0) return;
    const ticking = setInterval(() => setLeft((all) => all.map((s, i) => (i === who ? Math.max(0, s - 1) : s))), 1000);
    return () => clearInterval(ticking);
  }, [who]);
  return (
    <Card title="Debate" subtitle={who < 0 ? "Nobody is speaking" : names[who] + " is speaking"}>
      <Grid>
        {names.map((n, i) => <Stat key={n} label={n} value={clock(left[i])} tone={who === i ? "success" : "plain"} />)}
      </Grid>
      <p>Press the name of the one who begins to speak; the other clock stops.</p>
      <Row>
        {names.map((n, i) => <Button key={n} pressed={who === i} onClick={() => setWho(i)}>{n} speaks</Button>)}
        <Button tone="plain" onClick={() => setWho(-1)}>Pause</Button>
        <Button tone="plain" disabled={who < 0 && left[0] + left[1] === 360} onClick={() => { setWho(-1); setLeft([180, 180]); }}>New debate</Button>
      </Row>
    </Card>
  );
}
