import { Button, Card, RadioGroup } from "$ui4a/ui";
import { Phone } from "$ui4a/icons";
import { sendAction } from "$ui4a/chat";
import { PrivateField, usePersistedState } from "$ui4a/state";

export default function Callback() {
  const [about, setAbout] = usePersistedState("about", "Test results");
  const [when, setWhen] = usePersistedState("when", "Morning");
  const [phone, setPhone] = useState(false);
  const [said, setSaid] = useState("");
  const request = () => {
    if (!phone) return setSaid("The clinic needs your phone number.");
    sendAction({ name: "request-call", reads: ["about", "when", "phone", "trouble"] });
    setSaid("The clinic will call you.");
  };
  return (
    <Card title="Call from the clinic" icon={<Phone />} footer={<><Button onClick={request}>Request call</Button><span role="status">{said}</span></>}>
      <RadioGroup label="What it is about" options={["Test results", "New appointment", "Prescription"]} value={about} onChange={setAbout} />
      <RadioGroup label="When" options={["Morning", "Afternoon"]} value={when} onChange={setWhen} row />
      <PrivateField name="phone" type="tel" label="Phone number" onFilled={setPhone} />
      <PrivateField name="trouble" label="What troubles you" />
      <p className="text-muted">Number and trouble go to the clinic only; the assistant does not see them.</p>
    </Card>
  );
}
