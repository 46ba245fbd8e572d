import { Card, Grid, RadioGroup, Slider, Stat } from "$ui4a/ui";

const metres = (x: number) => String(x).replace(".", ",") + " m";

export default function Freinage() {
  const [vitesse, setVitesse] = useState(50);
  const [route, setRoute] = useState("Route sèche");
  const v = vitesse / 10;
  const freinage = (v * v) / (route === "Route sèche" ? 2 : 1);
  return (
    <Card title="La distance d'arrêt">
      <Slider label="Vitesse" unit="km/h" min={30} max={130} step={10} value={vitesse} onChange={setVitesse} />
      <RadioGroup label="Route" options={["Route sèche", "Route mouillée"]} value={route} onChange={setRoute} row />
      <Grid>
        <Stat label="Distance de réaction" value={metres(v * 3)} />
        <Stat label="Distance de freinage" value={metres(freinage)} />
        <Stat label="Distance d'arrêt totale" value={metres(v * 3 + freinage)} />
      </Grid>
    </Card>
  );
}
