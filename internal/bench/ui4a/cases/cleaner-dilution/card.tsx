import { Button, Card, Grid, NumberField, RadioGroup, Stat } from "$ui4a/ui";
import { sendMessage } from "$ui4a/chat";

export default function Dilution() {
  const [parts, setParts] = useState("40");
  const [bucket, setBucket] = useState(5);
  const cleaner = Math.round((bucket * 1000) / (Number(parts) + 1));
  const water = Math.round(bucket * 1000 - cleaner);
  return (
    <Card title="Mixing the floor cleaner" footer={<Button onClick={() => sendMessage(`Mixed ${cleaner} ml of cleaner with ${water} ml of water`)}>Mixed</Button>}>
      <RadioGroup label="Dirt" options={[{ value: "40", label: "Normal, 1:40" }, { value: "10", label: "Heavy, 1:10" }]} value={parts} onChange={setParts} />
      <NumberField label="Bucket" unit="litres" min={1} max={20} value={bucket} onChange={setBucket} />
      <Grid cols={2}>
        <Stat label="Cleaner" value={String(cleaner)} unit="ml" />
        <Stat label="Water" value={String(water)} unit="ml" />
      </Grid>
    </Card>
  );
}
