import { Button, Card, Row } from "$ui4a/ui";
import { ArrowDown, ArrowUp } from "$ui4a/icons";
import { sendMessage } from "$ui4a/chat";

const minutes: Record<string, number> = { "Paper Boats": 4, "Low Tide": 3, Glasshouse: 6, "Second Hand": 5 };

export default function Setlist() {
  const [songs, setSongs] = useState(Object.keys(minutes));
  const swap = (i: number) => {
    const next = [...songs];
    [next[i], next[i + 1]] = [next[i + 1], next[i]];
    setSongs(next);
  };
  return (
    <Card title="Setlist for the gig" subtitle={`The whole set takes ${Object.values(minutes).reduce((a, b) => a + b)} minutes`} footer={<Button onClick={() => sendMessage("The setlist is " + songs.join(", "))}>Send setlist</Button>}>
      <ol className="space-y-2">
        {songs.map((s, i) => (
          <li key={s}>
            <Row justify="between">
              <span>{s}, {minutes[s]} min</span>
              <Row>
                <Button tone="plain" size="s" icon={<ArrowUp />} label={`Move ${s} up`} disabled={i === 0} onClick={() => swap(i - 1)} />
                <Button tone="plain" size="s" icon={<ArrowDown />} label={`Move ${s} down`} disabled={i === songs.length - 1} onClick={() => swap(i)} />
              </Row>
            </Row>
          </li>
        ))}
      </ol>
    </Card>
  );
}
