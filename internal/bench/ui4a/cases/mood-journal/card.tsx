import { Button, Card, Checkbox, Field, Slider } from "$ui4a/ui";
import { Moon } from "$ui4a/icons";
import { sendAction } from "$ui4a/chat";
import { usePersistedState, usePrivateState } from "$ui4a/state";

export default function Journal() {
  const [feel, setFeel] = usePersistedState("feel", 3);
  const [bad, setBad] = usePersistedState("slept-badly", false);
  const [note, setNote] = usePrivateState("note", "");
  const [saved, setSaved] = useState(false);
  const save = () => { sendAction({ name: "save-evening", reads: ["feel", "slept-badly"] }); setSaved(true); };
  return (
    <Card title="My evening" icon={<Moon />} footer={<><Button onClick={save}>Save evening</Button>{saved && <span role="status">Saved.</span>}</>}>
      <Slider label="How I feel, from 1 to 5" min={1} max={5} value={feel} onChange={setFeel} />
      <Field label="A note just for me" hint="The assistant never reads it." rows={4} value={note} onChange={setNote} />
      <Checkbox label="Slept badly last night" checked={bad} onChange={setBad} />
    </Card>
  );
}
