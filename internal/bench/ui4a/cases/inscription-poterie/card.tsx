import { Button, Card, Checkbox, Field, RadioGroup } from "$ui4a/ui";
import { sendMessage } from "$ui4a/chat";

export default function Poterie() {
  const [prenom, setPrenom] = useState("");
  const [email, setEmail] = useState("");
  const [niveau, setNiveau] = useState("Débutant");
  const [photos, setPhotos] = useState(false);
  const [tried, setTried] = useState(false);
  const bad = { prenom: prenom.trim() ? "" : "Il manque le prénom.", email: email.includes("@") ? "" : "L'adresse doit contenir un @." };
  const send = () => {
    setTried(true);
    if (!bad.prenom && !bad.email) sendMessage(`Inscription : ${prenom}, ${email}, ${niveau}, photos ${photos ? "acceptées" : "refusées"}`);
  };
  return (
    <Card title="Atelier de poterie" subtitle="Samedi 16 janvier 2027, 35 €" footer={<Button onClick={send}>S'inscrire</Button>}>
      <Field label="Prénom" value={prenom} onChange={setPrenom} error={tried ? bad.prenom : ""} />
      <Field label="Adresse électronique" type="email" value={email} onChange={setEmail} error={tried ? bad.email : ""} />
      <RadioGroup label="Niveau" options={["Débutant", "Confirmé"]} value={niveau} onChange={setNiveau} row />
      <Checkbox label="J'accepte que mes photos soient publiées" checked={photos} onChange={setPhotos} />
    </Card>
  );
}
