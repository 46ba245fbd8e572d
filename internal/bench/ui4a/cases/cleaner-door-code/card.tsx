import { Alert, Button, Card, RadioGroup, Stat } from "$ui4a/ui";
import { sendAction } from "$ui4a/chat";
import { PrivateField, usePersistedState } from "$ui4a/state";

export default function Cleaner() {
  const [hours, setHours] = usePersistedState("hours", "3");
  const [filled, setFilled] = useState(false);
  const [said, setSaid] = useState("");
  const book = () => {
    if (!filled) return setSaid("The door code is missing.");
    sendAction({ name: "book-cleaner", reads: ["hours", "code"] });
    setSaid("The cleaner is booked.");
  };
  return (
    <Card title="Cleaner" subtitle="Thursday 10 December, 22 € an hour" footer={<Button onClick={book}>Book cleaner</Button>}>
      <RadioGroup label="How long" options={["2", "3", "4"].map((h) => ({ value: h, label: h + " hours" }))} value={hours} onChange={setHours} row />
      <PrivateField name="code" label="Door code" onFilled={setFilled} />
      <p className="text-muted">Only the cleaner gets the code, not the assistant.</p>
      <Stat label="Price" value={Number(hours) * 22} unit="€" />
      {said && <Alert>{said}</Alert>}
    </Card>
  );
}
