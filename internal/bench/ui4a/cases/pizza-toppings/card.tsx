import { Button, Card, Checkbox, Stat } from "$ui4a/ui";
import { sendMessage } from "$ui4a/chat";

const toppings = ["Mushrooms", "Olives", "Capers", "Ham", "Rocket", "Artichokes"];

export default function Pizza() {
  const [picked, setPicked] = useState<string[]>([]);
  const add = () => sendMessage("Add a pizza with " + (picked.join(", ") || "no toppings"));
  return (
    <Card title="Your pizza" subtitle="Up to three toppings, €1.20 each on a base of €8.50" footer={<Button onClick={add}>Add to order</Button>}>
      {toppings.map((t) => (
        <Checkbox
          key={t}
          label={t}
          checked={picked.includes(t)}
          disabled={picked.length === 3 && !picked.includes(t)}
          onChange={(on) => setPicked(on ? [...picked, t] : picked.filter((p) => p !== t))}
        />
      ))}
      <Stat label="Price" value={"€" + (8.5 + 1.2 * picked.length).toFixed(2)} />
    </Card>
  );
}
