import { Button, Card, Field, Row } from "$ui4a/ui";
import { usePersistedState } from "$ui4a/state";

export default function Einkaufszettel() {
  const [items, setItems] = usePersistedState("items", ["Mehl", "Hefe", "Tomaten"]);
  const [text, setText] = useState("");
  const add = () => {
    const item = text.trim();
    if (item && !items.includes(item)) setItems([...items, item]);
    setText("");
  };
  return (
    <Card title="Einkaufszettel">
      <Field label="Neuer Eintrag" value={text} onChange={setText} />
      <Button onClick={add} disabled={!text.trim()}>Hinzufügen</Button>
      {items.map((item) => (
        <Row key={item} justify="between">
          <span>{item}</span>
          <Button tone="plain" size="s" label={item + " löschen"} onClick={() => setItems(items.filter((i) => i !== item))}>Löschen</Button>
        </Row>
      ))}
      <p>Auf dem Zettel stehen {items.length} Einträge.</p>
    </Card>
  );
}
