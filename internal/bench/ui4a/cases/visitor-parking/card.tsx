import { Button, Card, Field, NumberField, RadioGroup, Stat } from "$ui4a/ui";
import { sendMessage } from "$ui4a/chat";

export default function VisitorParking() {
  const [plate, setPlate] = useState("");
  const [nights, setNights] = useState(2);
  const [zone, setZone] = useState("South");
  const request = () => sendMessage(`Parking permit for ${plate}, zone ${zone}, ${nights} nights from 18 December`);
  return (
    <Card title="Visitor parking" subtitle="18 to 20 December 2026, $6.50 a night" footer={<Button disabled={plate.trim().length < 4} onClick={request}>Request permit</Button>}>
      <Field label="Number plate" value={plate} onChange={(s) => setPlate(s.toUpperCase())} />
      <NumberField label="Nights" min={1} max={5} step={1} value={nights} onChange={setNights} />
      <RadioGroup label="Zone" options={["North", "South"]} value={zone} onChange={setZone} row />
      <Stat label="Price" value={"$" + (nights * 6.5).toFixed(2)} />
    </Card>
  );
}
