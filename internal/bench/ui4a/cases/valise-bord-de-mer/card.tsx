import { Button, Card, Checkbox, Grid } from "$ui4a/ui";
import { usePersistedState } from "$ui4a/state";

const valise = { Parents: ["Maillots", "Crème solaire", "Chargeur"], Enfants: ["Doudou", "Seaux et pelles", "Casquettes"] };

export default function Valise() {
  const [mis, setMis] = usePersistedState<string[]>("mis", []);
  return (
    <Card title="La valise pour Biarritz" footer={<Button tone="plain" onClick={() => setMis([])}>Tout décocher</Button>}>
      <p>Il reste {6 - mis.length} choses à mettre dans la valise.</p>
      <Grid cols={2}>
        {Object.entries(valise).map(([qui, choses]) => (
          <section key={qui}>
            <h3 className="font-semibold">{qui}</h3>
            {choses.map((c) => (
              <Checkbox key={c} label={c} checked={mis.includes(c)} onChange={(on) => setMis(on ? [...mis, c] : mis.filter((m) => m !== c))} />
            ))}
          </section>
        ))}
      </Grid>
    </Card>
  );
}
