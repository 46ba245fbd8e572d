import { Button, Card, Grid, RadioGroup, Stat } from "$ui4a/ui";
import { sendMessage } from "$ui4a/chat";

const tareas = ["Cocina", "Baño", "Salón", "Ventanas"];

export default function Limpieza() {
  const [quien, setQuien] = useState<Record<string, string>>({});
  const cuantas = (p: string) => tareas.filter((t) => quien[t] === p).length;
  const todas = tareas.every((t) => quien[t]);
  const cerrar = () => sendMessage("Reparto del sábado: " + tareas.map((t) => `${t} ${quien[t]}`).join(", "));
  return (
    <Card title="La limpieza del sábado" footer={<Button disabled={!todas} onClick={cerrar}>Cerrar reparto</Button>}>
      <Grid cols={2}>
        <Stat label="Tareas de Inés" value={cuantas("Inés")} />
        <Stat label="Tareas de Pablo" value={cuantas("Pablo")} />
      </Grid>
      {tareas.map((t) => (
        <RadioGroup key={t} label={t} options={["Inés", "Pablo"]} value={quien[t] ?? ""} onChange={(p) => setQuien({ ...quien, [t]: p })} row />
      ))}
    </Card>
  );
}
