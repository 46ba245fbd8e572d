import { Button, Card, Row, Switch, Table } from "$ui4a/ui";
import { sendMessage } from "$ui4a/chat";

const planos = [
  { nome: "Brisa", mbps: 200, preco: 80, meses: 0 },
  { nome: "Vento", mbps: 400, preco: 120, meses: 12 },
  { nome: "Tufão", mbps: 1000, preco: 210, meses: 12 },
];

export default function Internet() {
  const [livre, setLivre] = useState(false);
  const vistos = planos.filter((p) => !livre || p.meses === 0);
  const linhas = vistos.map((p) => ({ Plano: p.nome, Mbps: p.mbps, "R$ por mês": p.preco, "R$ por 100 Mbps": (100 * p.preco) / p.mbps, Fidelidade: p.meses ? p.meses + " meses" : "não" }));
  return (
    <Card title="Planos de internet" subtitle="Velocidade, preço por mês e tempo de fidelidade">
      <Switch label="Sem fidelidade" checked={livre} onChange={setLivre} />
      <Table label="Planos" rows={linhas} />
      <Row>
        {vistos.map((p) => <Button key={p.nome} tone="plain" onClick={() => sendMessage("Escolho o plano " + p.nome)}>Escolher {p.nome}</Button>)}
      </Row>
    </Card>
  );
}
