import { Button, Card, Checkbox, Grid, Stat } from "$ui4a/ui";
import { sendMessage } from "$ui4a/chat";

const dienste = [
  { name: "Schneiden", minuten: 30, preis: 32 },
  { name: "Färben", minuten: 60, preis: 58 },
  { name: "Föhnen", minuten: 20, preis: 15 },
];

export default function Friseur() {
  const [wahl, setWahl] = useState<string[]>([]);
  const gewaehlt = dienste.filter((d) => wahl.includes(d.name));
  const dauer = gewaehlt.reduce((s, d) => s + d.minuten, 0);
  const ende = 13 * 60 + 30 + dauer;
  return (
    <Card title="Termin beim Friseur" subtitle="Beginn um 13:30 Uhr" footer={<Button disabled={wahl.length === 0} onClick={() => sendMessage("Termin buchen: " + wahl.join(", "))}>Termin buchen</Button>}>
      {dienste.map((d) => (
        <Checkbox key={d.name} label={d.name} hint={`${d.minuten} Minuten, ${d.preis} €`} checked={wahl.includes(d.name)} onChange={(an) => setWahl(an ? [...wahl, d.name] : wahl.filter((w) => w !== d.name))} />
      ))}
      <Grid cols={3} min={90}>
        <Stat label="Dauer" value={dauer} unit="min" />
        <Stat label="Preis" value={gewaehlt.reduce((s, d) => s + d.preis, 0)} unit="€" />
        <Stat label="Fertig um" value={Math.floor(ende / 60) + ":" + String(ende % 60).padStart(2, "0")} />
      </Grid>
    </Card>
  );
}
