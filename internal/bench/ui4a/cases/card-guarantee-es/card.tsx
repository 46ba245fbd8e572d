import { Button, Card, RadioGroup } from "$ui4a/ui";
import { sendAction } from "$ui4a/chat";
import { PrivateField, usePersistedState } from "$ui4a/state";

export default function Garantia() {
  const [arrival, setArrival] = usePersistedState("llegada", "18:00");
  usePersistedState("reserva", "5518");
  const [filled, setFilled] = useState(false);
  const [said, setSaid] = useState("");
  const send = () => {
    if (!filled) return setSaid("Falta el número de la tarjeta.");
    sendAction({ name: "garantizar", reads: ["reserva", "llegada", "tarjeta"] });
    setSaid("La reserva está garantizada.");
  };
  return (
    <Card title="Garantizar la reserva 5518" subtitle="Hotel Mirador, 2 noches, 184 € en total" footer={<><Button onClick={send}>Garantizar</Button><span role="status">{said}</span></>}>
      <PrivateField name="tarjeta" label="Número de la tarjeta" onFilled={setFilled} />
      <p className="text-muted">Solo el hotel ve el número, el asistente no.</p>
      <RadioGroup label="Hora de llegada" options={["16:00", "18:00", "20:00"]} value={arrival} onChange={setArrival} row />
    </Card>
  );
}
