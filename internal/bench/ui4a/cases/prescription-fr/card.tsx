import { Button, Card, RadioGroup } from "$ui4a/ui";
import { sendAction } from "$ui4a/chat";
import { PrivateField, usePersistedState } from "$ui4a/state";

export default function Ordonnance() {
  const [way, setWay] = usePersistedState("mode", "Retrait en pharmacie");
  const [filled, setFilled] = useState(false);
  const [said, setSaid] = useState("");
  const renew = () => {
    if (!filled) return setSaid("Il manque le numéro de sécurité sociale.");
    sendAction({ name: "renouveler", reads: ["mode", "numero"] });
    setSaid("La demande est envoyée.");
  };
  return (
    <Card title="Renouvellement d'ordonnance" subtitle="Pharmacie des Tilleuls" footer={<><Button onClick={renew}>Renouveler</Button><span role="status">{said}</span></>}>
      <RadioGroup label="Comment recevoir vos médicaments ?" options={["Retrait en pharmacie", "Livraison à domicile"]} value={way} onChange={setWay} />
      <PrivateField name="numero" label="Numéro de sécurité sociale" onFilled={setFilled} />
      <p className="text-muted">Seule la pharmacie le voit, jamais l'assistant.</p>
    </Card>
  );
}
