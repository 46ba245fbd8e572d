import { Button, Card, Field, RadioGroup } from "$ui4a/ui";
import { Wifi } from "$ui4a/icons";
import { sendAction } from "$ui4a/chat";
import { PrivateField, usePersistedState } from "$ui4a/state";

export default function GuestNetwork() {
  const [network, setNetwork] = usePersistedState("network", "Attic Guests");
  const [hours, setHours] = usePersistedState("hours", "12");
  const [filled, setFilled] = useState(false);
  const start = () => sendAction({ name: "turn-on-guest-network", reads: ["network", "hours", "password"] });
  return (
    <Card title="Guest network" icon={<Wifi />} footer={<Button onClick={start} disabled={!filled}>Turn on guest network</Button>}>
      <Field label="Name of the network" value={network} onChange={setNetwork} />
      <PrivateField name="password" type="password" label="Password" onFilled={setFilled} />
      <p className="text-muted">The assistant never sees the password.</p>
      <RadioGroup label="Guests may stay on for" options={["2", "12", "48"].map((h) => ({ value: h, label: h + " hours" }))} value={hours} onChange={setHours} row />
    </Card>
  );
}
