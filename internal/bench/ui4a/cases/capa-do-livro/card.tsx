import { Button, Card, RadioGroup, Slider } from "$ui4a/ui";
import { sendMessage } from "$ui4a/chat";

export default function Capa() {
  const [escolhida, setEscolhida] = useState("");
  const [farol, setFarol] = useState(3);
  const [barco, setBarco] = useState(3);
  const responder = () => sendMessage(`Escolho a capa ${escolhida}. Notas: Farol ${farol}, Barco ${barco}.`);
  return (
    <Card title="As capas de A Maré Baixa" footer={<Button disabled={!escolhida} onClick={responder}>Responder à editora</Button>}>
      <div className="grid grid-cols-2 gap-4">
        <img src="asset:capa-farol" alt="Capa com um farol branco sob céu roxo" className="w-full rounded" />
        <img src="asset:capa-barco" alt="Capa com um barco encalhado na areia amarela" className="w-full rounded" />
        <Slider label="Nota para Farol" min={1} max={5} value={farol} onChange={setFarol} />
        <Slider label="Nota para Barco" min={1} max={5} value={barco} onChange={setBarco} />
      </div>
      <RadioGroup label="Qual das duas fica?" options={["Farol", "Barco"]} value={escolhida} onChange={setEscolhida} row />
    </Card>
  );
}
