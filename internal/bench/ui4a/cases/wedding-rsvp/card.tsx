import { Alert, Button, Card, Field, NumberField, RadioGroup } from "$ui4a/ui";
import { sendMessage } from "$ui4a/chat";

export default function Rsvp() {
  const [name, setName] = useState("");
  const [coming, setComing] = useState("");
  const [guests, setGuests] = useState(1);
  const [meal, setMeal] = useState("Beef");
  const [error, setError] = useState("");
  const yes = coming.startsWith("Yes");
  const send = () => {
    const missing = !name.trim() ? "Please give your name." : !coming ? "Please say whether you are coming." : "";
    setError(missing);
    if (!missing) sendMessage(yes ? `${name} is coming, ${guests} guests, ${meal}` : name + " is not coming");
  };
  return (
    <Card title="Will you come to our wedding?" subtitle="12 June 2027 at Alder Mill" footer={<Button onClick={send}>Send reply</Button>}>
      <Field label="Your name" value={name} onChange={setName} />
      <RadioGroup label="Are you coming?" options={["Yes, I'm coming", "No, sadly not"]} value={coming} onChange={setComing} />
      {yes && <NumberField label="Number of guests" min={1} max={4} value={guests} onChange={setGuests} />}
      {yes && <RadioGroup label="Meal" options={["Beef", "Fish", "Vegetarian"]} value={meal} onChange={setMeal} row />}
      {error && <Alert tone="danger">{error}</Alert>}
    </Card>
  );
}
