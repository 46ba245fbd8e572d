import { Button, Card, Progress } from "$ui4a/ui";

export default function Water() {
  const [drunk, setDrunk] = useState<number[]>([]);
  const sum = drunk.reduce((a, b) => a + b, 0);
  return (
    <Card title="Water today" footer={<>
      {[250, 500].map((ml) => <Button key={ml} onClick={() => setDrunk([...drunk, ml])}>{ml} ml</Button>)}
      <Button tone="plain" onClick={() => setDrunk(drunk.slice(0, -1))}>Undo</Button>
    </>}>
      <Progress label={`${sum} ml of 2000 ml, ${Math.max(0, 2000 - sum)} ml left`} value={sum} max={2000} />
    </Card>
  );
}
