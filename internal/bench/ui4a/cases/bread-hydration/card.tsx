import { Button, Card, Grid, NumberField, Row, Slider, Stat } from "$ui4a/ui";

export default function Sourdough() {
  const [flour, setFlour] = useState(800);
  const [hydration, setHydration] = useState(72);
  const grams = (percent: number) => Math.round((flour * percent) / 100);
  return (
    <Card title="Sourdough in baker's percentages">
      <NumberField label="Flour" unit="g" min={100} max={5000} step={50} value={flour} onChange={setFlour} />
      <Slider label="Hydration" unit="%" min={60} max={90} value={hydration} onChange={setHydration} />
      <Row>
        <Button tone="plain" onClick={() => setHydration(68)}>Baguette</Button>
        <Button tone="plain" onClick={() => setHydration(82)}>Ciabatta</Button>
      </Row>
      <Grid cols={2}>
        <Stat label="Water" value={grams(hydration)} unit="g" />
        <Stat label="Starter, 20%" value={grams(20)} unit="g" />
        <Stat label="Salt, 2%" value={grams(2)} unit="g" />
        <Stat label="Dough altogether" value={grams(122 + hydration)} unit="g" />
      </Grid>
    </Card>
  );
}
