import { Button, Card, Checkbox, Field, RadioGroup, Select, Stat } from "$ui4a/ui";
import { sendMessage } from "$ui4a/chat";

export default function Corrida() {
  const [nome, setNome] = useState("");
  const [km, setKm] = useState("5 km");
  const [camiseta, setCamiseta] = useState(false);
  const [tamanho, setTamanho] = useState("P");
  const [tried, setTried] = useState(false);
  const total = (km === "5 km" ? 40 : 60) + (camiseta ? 25 : 0);
  const send = () => {
    setTried(true);
    if (nome.trim()) sendMessage(`Inscrição de ${nome}: ${km}, ${camiseta ? "camiseta " + tamanho : "sem camiseta"}, R$ ${total}`);
  };
  return (
    <Card title="Corrida de rua do bairro" subtitle="Dia 7 de março de 2027" footer={<Button onClick={send}>Fazer inscrição</Button>}>
      <Field label="Nome" value={nome} onChange={setNome} error={tried && !nome.trim() ? "Falta o nome." : ""} />
      <RadioGroup label="Distância" options={[{ value: "5 km", label: "5 km por R$ 40" }, { value: "10 km", label: "10 km por R$ 60" }]} value={km} onChange={setKm} />
      <Checkbox label="Quero camiseta (mais R$ 25)" checked={camiseta} onChange={setCamiseta} />
      {camiseta && <Select label="Tamanho da camiseta" options={["P", "M", "G"]} value={tamanho} onChange={setTamanho} />}
      <Stat label="Total" value={"R$ " + total} />
    </Card>
  );
}
