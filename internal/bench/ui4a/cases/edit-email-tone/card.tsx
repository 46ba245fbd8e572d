import { Button, Card, Field, RadioGroup } from "$ui4a/ui";
import { sendMessage } from "$ui4a/chat";

const versions = {
  "As it is": "The heating in flat 14 has been broken since Sunday. Fix it now.",
  Friendly: "Hello! The heating in flat 14 has been broken since Sunday and we are getting rather cold. Could you send someone soon? Thank you!",
  Formal: "Dear Sir or Madam, I wish to report that the heating in flat 14 has been broken since Sunday. Please arrange for its repair without delay.",
};

export default function Mail() {
  const [tone, setTone] = useState("As it is");
  const [text, setText] = useState(versions["As it is"]);
  return (
    <Card title="Your mail to the landlord" footer={<Button onClick={() => sendMessage("Use this version: " + text)}>Use this version</Button>}>
      <RadioGroup label="Tone" options={Object.keys(versions)} value={tone} onChange={(t) => { setTone(t); setText(versions[t]); }} row />
      <Field label="Text of the mail" rows={6} value={text} onChange={setText} />
    </Card>
  );
}
