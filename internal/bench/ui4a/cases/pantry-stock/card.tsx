import { Badge, Button, Card, NumberField, Row } from "$ui4a/ui";
import { sendMessage } from "$ui4a/chat";
import { usePersistedState } from "$ui4a/state";

const units: Record<string, string> = { Tomatoes: "tins", Flour: "bags", Honey: "jars", Pasta: "packs" };

export default function Pantry() {
  const [stock, setStock] = usePersistedState<Record<string, number>>("stock", { Tomatoes: 6, Flour: 2, Honey: 1, Pasta: 4 });
  const low = Object.keys(units).filter((t) => stock[t] <= 1);
  return (
    <Card
      title="What is in the pantry"
      footer={<Button disabled={low.length === 0} onClick={() => sendMessage("We are low on " + low.join(", "))}>Shopping list</Button>}
    >
      {Object.entries(units).map(([thing, unit]) => (
        <Row key={thing} align="end">
          <NumberField label={thing} unit={unit} min={0} max={99} step={1} value={stock[thing]} onChange={(n) => setStock({ ...stock, [thing]: n })} />
          {stock[thing] <= 1 && <Badge tone="warn">Low</Badge>}
        </Row>
      ))}
      <p>{low.length ? "Running low: " + low.join(", ") : "Nothing is running low."}</p>
    </Card>
  );
}
