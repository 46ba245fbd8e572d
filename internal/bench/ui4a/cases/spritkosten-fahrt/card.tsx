import { Card, Grid, NumberField, Slider, Stat } from "$ui4a/ui";

const zahl = (x: number, n: number) => x.toLocaleString("de", { minimumFractionDigits: n, maximumFractionDigits: n });

export default function Sprit() {
  const [km, setKm] = useState(480);
  const [verbrauch, setVerbrauch] = useState(6.4);
  const [preis, setPreis] = useState(1.79);
  const [personen, setPersonen] = useState(3);
  const liter = (km * verbrauch) / 100;
  return (
    <Card title="Spritkosten zur Ostsee">
      <Grid cols={3}>
        <NumberField label="Strecke" unit="km" min={0} step={10} value={km} onChange={setKm} />
        <NumberField label="Verbrauch" unit="l/100 km" min={0} step={0.1} value={verbrauch} onChange={setVerbrauch} />
        <NumberField label="Preis" unit="€/l" min={0} step={0.01} value={preis} onChange={setPreis} />
      </Grid>
      <Slider label="Personen im Auto" min={1} max={5} value={personen} onChange={setPersonen} />
      <Grid cols={3} min={110}>
        <Stat label="Benötigter Sprit" value={zahl(liter, 1)} unit="Liter" />
        <Stat label="Kosten insgesamt" value={zahl(liter * preis, 2)} unit="€" />
        <Stat label="Kosten je Person" value={zahl((liter * preis) / personen, 2)} unit="€" />
      </Grid>
    </Card>
  );
}
