import { Button, Card, RadioGroup } from "$ui4a/ui";
import { sendMessage } from "$ui4a/chat";

const slots = { "Tuesday 8 December": ["9:15", "14:40"], "Friday 11 December": ["8:00", "11:20", "16:10"] };

export default function Dentist() {
  const [day, setDay] = useState("Tuesday 8 December");
  const [time, setTime] = useState("");
  const [reason, setReason] = useState("Check-up");
  return (
    <Card title="Appointment with Dr Kaya" footer={<Button disabled={!time} onClick={() => sendMessage(`Book ${day} at ${time}, ${reason}`)}>Book</Button>}>
      <RadioGroup label="Day" options={Object.keys(slots)} value={day} onChange={(d) => { setDay(d); setTime(""); }} />
      <RadioGroup label="Time" options={slots[day]} value={time} onChange={setTime} row />
      <RadioGroup label="Reason" options={["Check-up", "Cleaning"]} value={reason} onChange={setReason} row />
    </Card>
  );
}
