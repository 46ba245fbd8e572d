import { Card, Grid, Slider, Stat } from "$ui4a/ui";

export default function Solar() {
  const [kw, setKw] = useState(3);
  const [parte, setParte] = useState(40);
  const kwh = kw * 1450;
  const ahorro = kwh * ((parte / 100) * 0.2 + (1 - parte / 100) * 0.06);
  return (
    <Card title="Placas solares en el tejado" subtitle="Cada kW da 1450 kWh al año y cuesta 1500 €">
      <Slider label="Potencia instalada" unit="kW" min={1} max={10} value={kw} onChange={setKw} />
      <Slider label="Parte que consumo yo mismo" unit="%" step={10} value={parte} onChange={setParte} />
      <Grid>
        <Stat label="Producción al año" value={kwh} unit="kWh" />
        <Stat label="Ahorro al año" value={Math.round(ahorro)} unit="€" />
        <Stat label="Se paga en" value={((kw * 1500) / ahorro).toFixed(1).replace(".", ",")} unit="años" />
      </Grid>
    </Card>
  );
}
