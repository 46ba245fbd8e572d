import { Alert, Button, Card, RadioGroup } from "$ui4a/ui";

export default function Autoescuela() {
  const [speed, setSpeed] = useState("");
  const [said, setSaid] = useState("");
  const check = () => setSaid(!speed ? "Elige una respuesta." : speed === "120" ? "¡Muy bien, has acertado!" : "No es así: son 120 km/h.");
  return (
    <Card title="Pregunta de la autoescuela" footer={<Button onClick={check}>Corregir</Button>}>
      <RadioGroup label="¿Cuál es la velocidad máxima de un turismo en autopista en España?" options={["100", "110", "120", "130"].map((v) => ({ value: v, label: v + " km/h" }))}
        value={speed} onChange={(v) => { setSpeed(v); setSaid(""); }} />
      {said && <Alert>{said}</Alert>}
    </Card>
  );
}
