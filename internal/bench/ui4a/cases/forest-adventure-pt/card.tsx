import { Badge, Button, Card, Row } from "$ui4a/ui";

const encontros = ["Um esquilo desce da árvore: está com fome.", "Uma coruja pisca os olhos e pede ajuda.", "Um urso enorme bloqueia o caminho, triste."];

export default function Floresta() {
  const [passo, setPasso] = useState(0);
  const [dadas, setDadas] = useState(0);
  const seguir = (n: number) => { setPasso(passo + 1); setDadas(dadas + n); };
  const fim = passo === 3;
  return (
    <Card title="A raposa Lila na floresta" action={<Badge>{3 - dadas} maçãs</Badge>}>
      <p aria-live="polite">{fim ? `Lila chegou ao outro lado e fez ${dadas} amigos.` : encontros[passo]}</p>
      <Row>
        {!fim && <Button onClick={() => seguir(1)}>Dar uma maçã</Button>}
        {!fim && <Button tone="plain" onClick={() => seguir(0)}>Seguir caminho</Button>}
        {fim && <Button onClick={() => { setPasso(0); setDadas(0); }}>Jogar de novo</Button>}
      </Row>
    </Card>
  );
}
