import { Button, Card, Select, Stack } from "$ui4a/ui";
import { sendMessage } from "$ui4a/chat";

const soirs = ["Lundi", "Mardi", "Mercredi", "Jeudi", "Vendredi"];
const plats = ["Gratin dauphinois", "Soupe au potiron", "Quiche lorraine", "Curry de lentilles"];

export default function Diners() {
  const [choix, setChoix] = useState<Record<string, string>>({});
  const n = Object.keys(choix).length;
  const envoyer = () => sendMessage("Voici le planning : " + soirs.map((s) => s + " " + choix[s]).join(", "));
  return (
    <Card title="Dîners de la semaine" subtitle={`${n} soirs décidés sur 5`} footer={<Button onClick={envoyer} disabled={n < 5}>Envoyer le planning</Button>}>
      <p className="text-muted">Choisissez un plat pour chaque soir : gratin dauphinois, soupe au potiron, quiche lorraine ou curry de lentilles.</p>
      <Stack>
        {soirs.map((s) => <Select key={s} label={s} placeholder="À décider" options={plats} value={choix[s] ?? ""} onChange={(plat) => setChoix({ ...choix, [s]: plat })} />)}
      </Stack>
    </Card>
  );
}
