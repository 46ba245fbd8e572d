import { Alert, Button, Card, RadioGroup } from "$ui4a/ui";

const frases = [
  ["Queria sair, … está chovendo.", "mas"],
  ["Preciso de … tempo.", "mais"],
  ["Ele correu, … perdeu o ônibus.", "mas"],
] as const;

export default function Ortografia() {
  const [resposta, setResposta] = useState<Record<string, string>>({});
  const [corrigido, setCorrigido] = useState(false);
  const certas = frases.filter(([f, p]) => resposta[f] === p).length;
  const limpar = () => { setResposta({}); setCorrigido(false); };
  return (
    <Card title="Mas ou mais?" subtitle="Escolha a palavra que completa cada frase" footer={<><Button onClick={() => setCorrigido(true)}>Corrigir</Button><Button tone="plain" onClick={limpar}>Limpar</Button></>}>
      {frases.map(([f]) => <RadioGroup key={f} label={f} options={["mas", "mais"]} value={resposta[f] ?? ""} onChange={(p) => { setResposta({ ...resposta, [f]: p }); setCorrigido(false); }} row />)}
      {corrigido && <Alert>Você acertou {certas} das 3 frases.</Alert>}
    </Card>
  );
}
