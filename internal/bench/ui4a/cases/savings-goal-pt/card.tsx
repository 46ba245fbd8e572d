import { Button, Card, Grid, NumberField, Progress, Stat } from "$ui4a/ui";
import { usePersistedState } from "$ui4a/state";

const meta = 2400;

export default function Meta() {
  const [tem, setTem] = usePersistedState("tem", 900);
  const [valor, setValor] = usePersistedState("valor", 150);
  const falta = Math.max(0, meta - tem);
  return (
    <Card title="Minha bicicleta" subtitle="A meta é juntar R$ 2.400" footer={<Button onClick={() => setTem(tem + valor)}>Depositar</Button>}>
      <Progress label="Quanto da meta já está guardado" value={tem} max={meta} />
      <Grid>
        <Stat label="Já tenho" value={"R$ " + tem} />
        <Stat label="Ainda falta" value={"R$ " + falta} />
      </Grid>
      <NumberField label="Depósito" unit="R$" min={10} value={valor} onChange={setValor} />
      <p>Guardando esse valor todo mês, faltam {Math.ceil(falta / valor)} meses.</p>
    </Card>
  );
}
