import { Alert, Card, Grid, Slider, Stat } from "$ui4a/ui";

export default function Velos() {
  const [trips, setTrips] = useState(10);
  const price = trips * 1.8;
  return (
    <Card title="Vélos en libre-service" subtitle="Un trajet coûte 1,80 €, l'abonnement coûte 27 € par mois.">
      <Slider label="Trajets par mois" min={0} max={40} value={trips} onChange={setTrips} />
      <Grid>
        <Stat label="Au trajet" value={price.toFixed(2).replace(".", ",")} unit="€" />
        <Stat label="Abonnement" value="27,00" unit="€" />
      </Grid>
      <Alert>Le moins cher : {price > 27 ? "l'abonnement" : "payer au trajet"}. L'abonnement est gagnant à partir de 16 trajets.</Alert>
    </Card>
  );
}
