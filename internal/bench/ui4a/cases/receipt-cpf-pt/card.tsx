import { Alert, Button, Card, RadioGroup } from "$ui4a/ui";
import { sendAction } from "$ui4a/chat";
import { PrivateField, usePersistedState } from "$ui4a/state";

export default function Nota() {
  const [envio, setEnvio] = usePersistedState("envio", "Por e-mail");
  const [filled, setFilled] = useState(false);
  const [said, setSaid] = useState("");
  const emitir = () => {
    if (!filled) return setSaid("Preencha o CPF primeiro.");
    sendAction({ name: "emitir-nota", reads: ["envio", "cpf"] });
    setSaid("A nota foi pedida.");
  };
  return (
    <Card title="CPF na nota" subtitle="Compra de R$ 132,50 na Livraria Ipê" footer={<Button onClick={emitir}>Emitir nota</Button>}>
      <PrivateField name="cpf" label="CPF" onFilled={setFilled} />
      <p className="text-muted">O número vai apenas para a loja; o assistente não vê o seu CPF.</p>
      <RadioGroup label="Como você quer receber a nota?" options={["Por e-mail", "Impressa"]} value={envio} onChange={setEnvio} row />
      {said && <Alert>{said}</Alert>}
    </Card>
  );
}
