import { Alert, Button, Card, Field } from "$ui4a/ui";

export default function Accord() {
  const [forme, setForme] = useState("");
  const [vu, setVu] = useState(false);
  const juste = forme.trim().toLowerCase() === "écrites";
  return (
    <Card title="Accord du participe passé" footer={<Button onClick={() => setVu(true)}>Vérifier</Button>}>
      <p>Les lettres que j'ai (écrire) sont sur la table.</p>
      <Field label="La forme correcte du verbe" value={forme} onChange={(v) => { setForme(v); setVu(false); }} />
      {vu && <Alert tone={juste ? "success" : "warn"}>{juste ? "Bravo, c'est juste !" : "Pas encore. Indice : le complément est placé avant le verbe."}</Alert>}
    </Card>
  );
}
