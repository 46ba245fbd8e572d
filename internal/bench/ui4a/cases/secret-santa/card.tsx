import { Alert, Button, Card, RadioGroup, Slider } from "$ui4a/ui";
import { Gift } from "$ui4a/icons";
import { sendAction } from "$ui4a/chat";
import { PrivateField, usePersistedState } from "$ui4a/state";

export default function SecretSanta() {
  const [kind, setKind] = usePersistedState("kind", "");
  const [budget, setBudget] = usePersistedState("budget", 15);
  const [said, setSaid] = useState("");
  const find = () => {
    if (!kind) return setSaid("Pick a kind of present first.");
    sendAction({ name: "find-ideas", reads: ["kind", "budget"] });
    setSaid("Looking for ideas.");
  };
  return (
    <Card title="Office Secret Santa" icon={<Gift />} footer={<Button onClick={find}>Find ideas</Button>}>
      <PrivateField name="drawn" label="Who I drew" />
      <p className="text-muted">The name stays secret, from the assistant too.</p>
      <RadioGroup label="Kind of present" options={["Book", "Plant", "Game"]} value={kind} onChange={setKind} row />
      <Slider label="Budget" unit="£" min={1} max={20} value={budget} onChange={setBudget} />
      {said && <Alert>{said}</Alert>}
    </Card>
  );
}
