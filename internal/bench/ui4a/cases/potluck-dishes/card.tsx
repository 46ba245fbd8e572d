import { Badge, Button, Card, Row } from "$ui4a/ui";
import { sendMessage } from "$ui4a/chat";
import { usePersistedState } from "$ui4a/state";

const dishes = ["Rice", "First salad", "Second salad", "Dessert", "Bread", "Lemonade"];

export default function Potluck() {
  const [mine, setMine] = usePersistedState<string[]>("mine", []);
  const claim = (d: string) => {
    sendMessage("I'll bring the " + d.toLowerCase());
    setMine([...mine, d]);
  };
  return (
    <Card title="Street potluck" subtitle="What is taken, and what is still needed">
      {dishes.map((d) => (
        <Row key={d} justify="between">
          <span>{d}</span>
          {d === "Rice" ? <Badge>Yusuf brings it</Badge> : mine.includes(d) ? <Badge tone="success">You bring it</Badge> : <Button tone="plain" size="s" label={`I'll bring it: ${d}`} onClick={() => claim(d)}>I'll bring it</Button>}
        </Row>
      ))}
    </Card>
  );
}
