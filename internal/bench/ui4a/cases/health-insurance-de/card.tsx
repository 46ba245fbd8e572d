import { Button, Card, Checkbox, Field } from "$ui4a/ui";
import { sendAction } from "$ui4a/chat";
import { PrivateField, usePersistedState } from "$ui4a/state";

export default function Krankmeldung() {
  usePersistedState("von", "2026-11-30");
  const [bis, setBis] = usePersistedState("bis", "2026-12-04");
  const [unfall, setUnfall] = usePersistedState("arbeitsunfall", false);
  const [filled, setFilled] = useState(false);
  const [said, setSaid] = useState("");
  const melden = () => {
    if (!filled) return setSaid("Bitte gib zuerst deine Versichertennummer ein.");
    sendAction({ name: "krankmelden", reads: ["von", "bis", "arbeitsunfall", "nummer"] });
    setSaid("Die Krankmeldung ist abgeschickt.");
  };
  return (
    <Card title="Krankmeldung" subtitle="Vom 30. November bis 4. Dezember 2026" footer={<><Button onClick={melden}>Krankmelden</Button><span role="status">{said}</span></>}>
      <Field label="Letzter Tag" type="date" value={bis} onChange={setBis} />
      <PrivateField name="nummer" label="Versichertennummer" onFilled={setFilled} />
      <p className="text-muted">Die Nummer geht nur an die Krankenkasse, der Assistent sieht sie nicht.</p>
      <Checkbox label="Es war ein Arbeitsunfall" checked={unfall} onChange={setUnfall} />
    </Card>
  );
}
