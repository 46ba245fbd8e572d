import { Card, Grid, NumberField, RadioGroup, Stat } from "$ui4a/ui";

export default function Paint() {
  const [length, setLength] = useState(4.2);
  const [width, setWidth] = useState(3.5);
  const [height, setHeight] = useState(2.5);
  const [coats, setCoats] = useState("2");
  const area = Math.max(0, 2 * (length + width) * height - 3.6);
  const litres = (area * Number(coats)) / 11;
  const cans = Math.ceil(litres / 2.5);
  return (
    <Card title="Paint for the walls" subtitle="3.6 m² of doors and windows taken off, 11 m² per litre, no ceiling">
      <Grid cols={3}>
        <NumberField label="Length" unit="m" min={0} step={0.1} value={length} onChange={setLength} />
        <NumberField label="Width" unit="m" min={0} step={0.1} value={width} onChange={setWidth} />
        <NumberField label="Height" unit="m" min={0} step={0.1} value={height} onChange={setHeight} />
      </Grid>
      <RadioGroup label="Coats" options={["1", "2", "3"]} value={coats} onChange={setCoats} row />
      <Grid cols={2}>
        <Stat label="Wall area" value={area.toFixed(1)} unit="m²" />
        <Stat label="Paint" value={litres.toFixed(1)} unit="litres" />
        <Stat label="Cans of 2.5 litres" value={cans} />
        <Stat label="Cost at €34.90 a can" value={"€" + (cans * 34.9).toFixed(2)} />
      </Grid>
    </Card>
  );
}
