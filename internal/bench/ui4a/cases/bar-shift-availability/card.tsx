import { Button, Card, Checkbox, Slider } from "$ui4a/ui";
import { sendMessage } from "$ui4a/chat";

const evenings = ["Thursday", "Friday", "Saturday", "Sunday"];

export default function Shifts() {
  const [can, setCan] = useState<string[]>([]);
  const [hours, setHours] = useState(16);
  const tell = () => sendMessage(`Nadia, next week I can work on ${evenings.filter((e) => can.includes(e)).join(", ")}, at most ${hours} hours.`);
  return (
    <Card title="When I can work next week" footer={<Button disabled={can.length === 0} onClick={tell}>Tell Nadia</Button>}>
      {evenings.map((e) => (
        <Checkbox key={e} label={e + " evening"} checked={can.includes(e)} onChange={(on) => setCan(on ? [...can, e] : can.filter((c) => c !== e))} />
      ))}
      <Slider label="The most hours I want" unit="hours" min={4} max={30} value={hours} onChange={setHours} />
      <p aria-live="polite">Shifts ticked: {can.length}</p>
    </Card>
  );
}
