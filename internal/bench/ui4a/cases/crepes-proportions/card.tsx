import { Button, Card, Slider } from "$ui4a/ui";

const parts: [number, string][] = [[62.5, "g de farine"], [125, "ml de lait"], [1, "œufs"], [12.5, "g de beurre fondu"]];

export default function Crepes() {
  const [n, setN] = useState(4);
  return (
    <Card title="Pâte à crêpes" footer={<Button tone="plain" onClick={() => setN(4)}>Recette de base</Button>}>
      <Slider label="Nombre de personnes" min={1} max={12} value={n} onChange={setN} />
      <ul className="list-disc pl-5">
        {parts.map(([each, what]) => <li key={what}>{(each * n).toLocaleString("fr")} {what}</li>)}
        <li>une pincée de sel</li>
      </ul>
    </Card>
  );
}
