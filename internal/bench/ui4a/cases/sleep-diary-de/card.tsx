import { Button, Card, Slider, Stat } from "$ui4a/ui";
import { Chart } from "$ui4a/charts";

const woche = [
  { tag: "Montag", h: 6.5 },
  { tag: "Dienstag", h: 7 },
  { tag: "Mittwoch", h: 5.5 },
  { tag: "Donnerstag", h: 8 },
  { tag: "Freitag", h: 6 },
];

export default function Schlaf() {
  const [stunden, setStunden] = useState(7);
  const [samstag, setSamstag] = useState(0);
  const data = samstag ? [...woche, { tag: "Samstag", h: samstag }] : woche;
  const mittel = data.reduce((s, d) => s + d.h, 0) / data.length;
  return (
    <Card title="Mein Schlaf in dieser Woche" footer={<Button onClick={() => setSamstag(stunden)}>Eintragen</Button>}>
      <Chart kind="bar" label="Stunden Schlaf je Nacht" data={data} x="tag" y="h" names={{ h: "Stunden" }} />
      <Stat label="Durchschnitt" value={mittel.toFixed(1).replace(".", ",")} unit="Stunden" />
      <Slider label="Stunden am Samstag" min={0} max={12} step={0.5} value={stunden} onChange={setStunden} />
    </Card>
  );
}
