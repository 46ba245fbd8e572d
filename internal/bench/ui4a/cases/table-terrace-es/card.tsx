import { Alert, Button, Card, NumberField, RadioGroup, Switch } from "$ui4a/ui";
import { sendMessage } from "$ui4a/chat";

export default function Mesa() {
  const [personas, setPersonas] = useState(2);
  const [hora, setHora] = useState("21:30");
  const [terraza, setTerraza] = useState(false);
  const lleno = terraza && personas > 4;
  const reservar = () => sendMessage(`Reservar mesa a las ${hora} para ${personas} personas, ${terraza ? "en la terraza" : "dentro"}`);
  return (
    <Card title="Mesa en La Higuera" subtitle="Sábado 12 de diciembre" footer={<Button disabled={lleno} onClick={reservar}>Reservar mesa</Button>}>
      <NumberField label="Número de personas" min={1} max={8} value={personas} onChange={setPersonas} />
      <RadioGroup label="Hora" options={["20:30", "21:30", "22:30"]} value={hora} onChange={setHora} row />
      <Switch label="Queremos terraza" checked={terraza} onChange={setTerraza} />
      {lleno && <Alert tone="warn">En la terraza caben 4 personas como mucho.</Alert>}
    </Card>
  );
}
