import { Alert, Card, Grid, Slider, Stat } from "$ui4a/ui";

export default function Tarife() {
  const [gb, setGb] = useState(8);
  const flink = 6 + 1.5 * gb;
  return (
    <Card title="Welcher Handytarif lohnt sich?" subtitle="Flink kostet 6 € im Monat und 1,50 € je GB, Weit kostet pauschal 19 €.">
      <Slider label="Datenverbrauch im Monat" unit="GB" min={1} max={30} value={gb} onChange={setGb} />
      <Grid>
        <Stat label="Flink" value={flink.toFixed(2).replace(".", ",")} unit="€" />
        <Stat label="Weit" value="19,00" unit="€" />
      </Grid>
      <Alert tone="success">{flink < 19 ? "Flink" : "Weit"} ist günstiger.</Alert>
    </Card>
  );
}
