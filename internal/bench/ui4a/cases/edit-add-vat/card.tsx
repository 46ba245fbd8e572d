import { Card, Slider, Stat } from "$ui4a/ui";

export default function Invoice() {
  const [hours, setHours] = useState(8);
  const net = hours * 65;
  return (
    <Card title="Invoice for Brook Joinery">
      <p className="text-muted">Rate: £65 an hour</p>
      <Slider label="Hours" min={1} max={40} value={hours} onChange={setHours} />
      <Stat label="Net amount" value={"£" + net} />
      <Stat label="VAT, 20 %" value={"£" + net / 5} />
      <Stat label="Total with VAT" value={"£" + net * 1.2} />
    </Card>
  );
}
