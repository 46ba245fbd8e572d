import { Button, Card, Field, RadioGroup } from "$ui4a/ui";
import { sendMessage } from "$ui4a/chat";

const titres = ["La bibliothèque du quartier rouvre enfin", "Retour à la bibliothèque après les travaux", "Deux ans après, les livres sont de retour"];

export default function Titre() {
  const [titre, setTitre] = useState(titres[0]);
  return (
    <Card title="Un titre plus court" subtitle="Pour l'article sur la bibliothèque" footer={<Button onClick={() => sendMessage("Garder ce titre : " + titre)}>Garder ce titre</Button>}>
      <RadioGroup label="Choisissez une proposition" options={titres} value={titre} onChange={setTitre} />
      <Field label="Votre titre" hint={titre.length + " caractères"} value={titre} onChange={setTitre} />
    </Card>
  );
}
