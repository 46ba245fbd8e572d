import { Alert, Button, Card, Row, Stat } from "$ui4a/ui";

export default function Matchsticks() {
  const [left, setLeft] = useState(13);
  const [turn, setTurn] = useState(0);
  const names = ["Nour", "Sam"];
  const take = (n: number) => { setLeft(left - n); setTurn(1 - turn); };
  const again = () => { setLeft(13); setTurn(0); };
  return (
    <Card title="Matchsticks" subtitle="Nour against Sam: whoever takes the last one loses" footer={<Button tone="plain" onClick={again}>Play again</Button>}>
      <Stat label="Matchsticks left" value={left} />
      <p aria-hidden className="font-mono text-lg">{"| ".repeat(left)}</p>
      <Alert>{left === 0 ? `${names[1 - turn]} took the last one and has lost.` : `It is the turn of ${names[turn]}.`}</Alert>
      <Row>
        {[1, 2, 3].map((n) => <Button key={n} disabled={n > left} onClick={() => take(n)}>Take {n}</Button>)}
      </Row>
    </Card>
  );
}
