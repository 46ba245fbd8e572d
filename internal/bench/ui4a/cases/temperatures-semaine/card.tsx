import { Card, Checkbox, Grid, Stat } from "$ui4a/ui";
import { Chart } from "$ui4a/charts";

const jours = [
  { jour: "lundi", max: 9, min: 2 },
  { jour: "mardi", max: 11, min: 3 },
  { jour: "mercredi", max: 7, min: 1 },
  { jour: "jeudi", max: 6, min: -1 },
  { jour: "vendredi", max: 10, min: 0 },
  { jour: "samedi", max: 12, min: 1 },
  { jour: "dimanche", max: 8, min: 4 },
];
const moyenne = jours.reduce((s, j) => s + j.max, 0) / jours.length;
const ecart = Math.max(...jours.map((j) => j.max - j.min));

export default function Annecy() {
  const [minimales, setMinimales] = useState(true);
  return (
    <Card title="Une semaine à Annecy">
      <Chart kind="line" label="Températures de la semaine" data={jours} x="jour" y={minimales ? ["max", "min"] : ["max"]} names={minimales ? ["maximales", "minimales"] : ["maximales"]} unit="°C" />
      <Checkbox label="Minimales" checked={minimales} onChange={setMinimales} />
      <Grid cols={2}>
        <Stat label="Moyenne des maximales" value={moyenne} unit="°C" />
        <Stat label="Plus grand écart d'une journée (samedi)" value={ecart} unit="°C" />
      </Grid>
    </Card>
  );
}
