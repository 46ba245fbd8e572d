import { Alert, Button, Card, Grid } from "$ui4a/ui";

const rivers = [
  { river: "Tiber", city: "Rome", cities: ["Milan", "Rome", "Naples", "Turin"] },
  { river: "Spree", city: "Berlin", cities: ["Hamburg", "Munich", "Berlin", "Cologne"] },
  { river: "Vistula", city: "Warsaw", cities: ["Warsaw", "Poznan", "Lodz", "Wroclaw"] },
];

export default function Rivers() {
  const [at, setAt] = useState(0);
  const [picked, setPicked] = useState("");
  const [score, setScore] = useState(0);
  const q = rivers[at];
  if (!q) return (
    <Card title="Your score" footer={<Button onClick={() => { setAt(0); setScore(0); }}>Try again</Button>}>
      <p>{score} of 3 right</p>
    </Card>
  );
  const pick = (c: string) => { setPicked(c); if (c === q.city) setScore(score + 1); };
  const next = () => { setAt(at + 1); setPicked(""); };
  return (
    <Card title={`${at + 1}. Through which city does the ${q.river} flow?`}>
      <Grid>
        {q.cities.map((c) => <Button key={c} tone="plain" disabled={!!picked} pressed={c === picked} onClick={() => pick(c)}>{c}</Button>)}
      </Grid>
      {picked && <Alert tone={picked === q.city ? "success" : "warn"}>{picked === q.city ? "Right!" : `Wrong, it is ${q.city}.`}</Alert>}
      {picked && <Button onClick={next}>Next</Button>}
    </Card>
  );
}
