import { Alert, Button, Card, RadioGroup, Select } from "$ui4a/ui";
import { sendMessage } from "$ui4a/chat";

const starts = [9, 10, 11, 12, 13, 14, 15, 16].map((h) => h + ":00");
const taken = [[10, 11.5], [14, 15]];

export default function Room() {
  const [start, setStart] = useState("9:00");
  const [hours, setHours] = useState("1");
  const from = parseInt(start);
  const clash = taken.some(([a, b]) => from < b && from + Number(hours) > a);
  return (
    <Card title="Birch room, Monday 7 December" subtitle="Taken from 10:00 to 11:30 and from 14:00 to 15:00"
      footer={<Button disabled={clash} onClick={() => sendMessage(`Book the Birch room at ${start} for ${hours} hours`)}>Book room</Button>}>
      <Select label="Start" options={starts} value={start} onChange={setStart} />
      <RadioGroup label="Length in hours" options={["1", "2", "3"]} value={hours} onChange={setHours} row />
      <Alert tone={clash ? "warn" : "success"}>{clash ? "That clashes with another meeting." : "The room is free then."}</Alert>
    </Card>
  );
}
