import { Button, Card, Grid, NumberField, Stat } from "$ui4a/ui";
import { sendMessage } from "$ui4a/chat";

export default function Churrasco() {
  const [adultos, setAdultos] = useState(10);
  const [criancas, setCriancas] = useState(4);
  const carne = ((adultos * 400 + criancas * 200) / 1000).toLocaleString("pt") + " kg";
  const pao = adultos * 2 + criancas;
  const latas = adultos * 4 + criancas * 2;
  const enviar = () => sendMessage(`Comprar ${carne} de carne, ${pao} pães de alho e ${latas} latas`);
  return (
    <Card title="Churrasco de sábado" subtitle="O que você precisa comprar, segundo a regra da mãe." footer={<Button onClick={enviar}>Enviar lista</Button>}>
      <Grid cols={2}>
        <NumberField label="Adultos" min={0} max={200} value={adultos} onChange={setAdultos} />
        <NumberField label="Crianças" min={0} max={200} value={criancas} onChange={setCriancas} />
      </Grid>
      <Grid cols={3} min={90}>
        <Stat label="Carne" value={carne} />
        <Stat label="Pão de alho" value={String(pao)} />
        <Stat label="Latas de bebida" value={String(latas)} />
      </Grid>
    </Card>
  );
}
