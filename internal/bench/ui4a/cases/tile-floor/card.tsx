import { Card, Grid, NumberField, Slider, Stat } from "$ui4a/ui";

export default function Tiles() {
  const [length, setLength] = useState(3.6);
  const [width, setWidth] = useState(2.4);
  const [waste, setWaste] = useState(10);
  const tiles = Math.ceil(((length * width) / 0.18) * (1 + waste / 100) - 1e-6);
  const boxes = Math.ceil(tiles / 6);
  return (
    <Card title="Bathroom tiles" subtitle="Tiles of 30 by 60 cm, boxes of 6 at $27.50">
      <Grid cols={2}>
        <NumberField label="Length" unit="m" min={0} max={100} step={0.1} value={length} onChange={setLength} />
        <NumberField label="Width" unit="m" min={0} max={100} step={0.1} value={width} onChange={setWidth} />
      </Grid>
      <Slider label="Waste" unit="%" max={20} value={waste} onChange={setWaste} />
      <Grid cols={3} min={90}>
        <Stat label="Tiles" value={tiles} />
        <Stat label="Boxes" value={boxes} />
        <Stat label="Total" value={"$" + (boxes * 27.5).toFixed(2)} />
      </Grid>
    </Card>
  );
}
