import { Button, Card } from "$ui4a/ui";

const lines = ["123", "456", "789", "147", "258", "369", "159", "357"];

export default function Noughts() {
  const [marks, setMarks] = useState<Record<string, string>>({});
  const taken = Object.keys(marks).length;
  const turn = taken % 2 ? "O" : "X";
  const won = ["X", "O"].find((p) => lines.some((line) => [...line].every((n) => marks[n] === p)));
  return (
    <Card title="Noughts and crosses" footer={<Button tone="plain" onClick={() => setMarks({})}>New game</Button>}>
      <p role="status">{won ? won + " wins!" : taken === 9 ? "A draw." : "Turn of " + turn}</p>
      <div className="grid grid-cols-3 gap-2 max-w-xs">
        {[..."123456789"].map((n) => (
          <Button key={n} tone="plain" className="h-20 text-3xl" label={`Square ${n} ${marks[n] ?? ""}`} disabled={!!marks[n] || !!won} onClick={() => setMarks({ ...marks, [n]: turn })}>{marks[n] ?? " "}</Button>
        ))}
      </div>
    </Card>
  );
}
