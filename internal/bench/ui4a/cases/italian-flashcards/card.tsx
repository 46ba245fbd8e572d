import { Button, Card, Progress, Row } from "$ui4a/ui";

const words = [["la chiave", "the key"], ["il cucchiaio", "the spoon"], ["la scarpa", "the shoe"], ["il ghiaccio", "the ice"]];

export default function Flashcards() {
  const [at, setAt] = useState(0);
  const [knew, setKnew] = useState(0);
  const [turned, setTurned] = useState(false);
  const word = words[at];
  const next = (n: number) => { setKnew(knew + n); setAt(at + 1); setTurned(false); };
  return (
    <Card title="Italian words" subtitle="Say what the word means, then turn the card">
      <Progress label={`You knew ${knew} of 4`} value={knew} max={4} />
      {word && <p className="text-3xl text-center">{word[0]}</p>}
      {word && turned && <p className="text-xl text-center text-muted">{word[1]}</p>}
      {!word && <Button onClick={() => { setAt(0); setKnew(0); }}>Start over</Button>}
      {word && !turned && <Button onClick={() => setTurned(true)}>Show answer</Button>}
      {word && turned && (
        <Row justify="center">
          <Button onClick={() => next(1)}>I knew it</Button>
          <Button tone="plain" onClick={() => next(0)}>Not yet</Button>
        </Row>
      )}
    </Card>
  );
}
