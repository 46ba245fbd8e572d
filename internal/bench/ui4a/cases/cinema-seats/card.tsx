import { Button, Card, Stat } from "$ui4a/ui";
import { sendMessage } from "$ui4a/chat";

const seats = ["A1", "A2", "A3", "A4", "A5", "B1", "B2", "B3", "B4", "B5"];
const taken = ["A3", "B1", "B2"];

export default function Seats() {
  const [mine, setMine] = useState<string[]>([]);
  const sum = mine.reduce((s, seat) => s + (seat[0] === "A" ? 9 : 12), 0);
  const toggle = (s: string) => setMine(mine.includes(s) ? mine.filter((m) => m !== s) : [...mine, s]);
  return (
    <Card title="The Lantern, 19:45" subtitle="Row A costs $9, row B $12; up to 3 seats" footer={<Button disabled={mine.length === 0} onClick={() => sendMessage("Buy the seats " + mine.join(", "))}>Buy</Button>}>
      <div className="grid grid-cols-5 gap-2">
        {seats.map((s) => <Button key={s} tone="plain" className="px-0" pressed={mine.includes(s)} disabled={taken.includes(s) || (mine.length === 3 && !mine.includes(s))} onClick={() => toggle(s)}>{s}</Button>)}
      </div>
      <Stat label={"Your seats: " + (mine.join(", ") || "none yet")} value={"$" + sum} />
    </Card>
  );
}
