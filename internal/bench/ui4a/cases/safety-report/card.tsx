import { Button, Card, RadioGroup } from "$ui4a/ui";
import { TriangleAlert } from "$ui4a/icons";
import { sendAction } from "$ui4a/chat";
import { PrivateField, usePersistedState } from "$ui4a/state";

export default function Danger() {
  const [where, setWhere] = usePersistedState("where", "");
  const [level, setLevel] = usePersistedState("level", "");
  const [sent, setSent] = useState(false);
  const report = () => { sendAction({ name: "report", reads: ["where", "level", "who"] }); setSent(true); };
  return (
    <Card title="Report a danger" icon={<TriangleAlert />} footer={<><Button onClick={report} disabled={!where || !level}>Report</Button>{sent && <span role="status">Thank you, it is reported.</span>}</>}>
      <RadioGroup label="Where is it?" options={["Loading bay", "Aisle", "Canteen"]} value={where} onChange={setWhere} />
      <RadioGroup label="How bad is it?" options={["Low", "High"]} value={level} onChange={setLevel} row />
      <PrivateField name="who" label="Your name (optional)" />
      <p className="text-muted">Only the safety officer gets the name, not the assistant.</p>
    </Card>
  );
}
