import { Button, Card, Checkbox, Grid, Stat } from "$ui4a/ui";
import { usePersistedState } from "$ui4a/state";

const pessoas = ["Teresa", "Joaquim", "Beatriz", "Nuno", "Lurdes"];

export default function Convidados() {
  const [sim, setSim] = usePersistedState("confirmados", ["Teresa", "Nuno"]);
  const [falta, setFalta] = useState(false);
  return (
    <Card title="Quem vem à festa da avó" footer={<Button tone="plain" pressed={falta} onClick={() => setFalta(!falta)}>Mostrar só quem falta</Button>}>
      <Grid cols={2}>
        <Stat label="Já confirmaram que vêm" value={sim.length} />
        <Stat label="Ainda não responderam" value={5 - sim.length} />
      </Grid>
      {pessoas.filter((p) => !falta || !sim.includes(p)).map((p) => (
        <Checkbox key={p} label={p} checked={sim.includes(p)} onChange={(on) => setSim(on ? [...sim, p] : sim.filter((s) => s !== p))} />
      ))}
    </Card>
  );
}
