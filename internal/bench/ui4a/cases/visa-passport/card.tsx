import { Button, Card, Field, RadioGroup } from "$ui4a/ui";
import { sendAction } from "$ui4a/chat";
import { PrivateField, usePersistedState } from "$ui4a/state";

export default function Visa() {
  const [purpose, setPurpose] = usePersistedState("purpose", "Tourism");
  const [entry, setEntry] = usePersistedState("entry", "2027-03-03");
  const [filled, setFilled] = useState(false);
  const [said, setSaid] = useState("");
  const apply = () => {
    if (!filled) return setSaid("Please enter the passport number.");
    sendAction({ name: "apply", reads: ["purpose", "entry", "passport"] });
    setSaid("The application is sent.");
  };
  return (
    <Card title="Visa for Georgia" footer={<><Button onClick={apply}>Apply</Button><span role="status">{said}</span></>}>
      <RadioGroup label="Purpose of the trip" options={["Tourism", "Business", "Study"]} value={purpose} onChange={setPurpose} />
      <Field label="Entry, planned for 3 March 2027" type="date" value={entry} onChange={setEntry} />
      <PrivateField name="passport" label="Passport number" onFilled={setFilled} />
      <p className="text-muted">Only the visa office sees the number, the assistant does not.</p>
    </Card>
  );
}
