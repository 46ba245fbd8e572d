import { Button, Card, Checkbox, Stat } from "$ui4a/ui";
import { sendMessage } from "$ui4a/chat";

const guests = ["Ayla", "Bruno", "Carla"];

export default function Guests() {
  const [coming, setComing] = useState<string[]>([]);
  return (
    <Card title="Gästeliste" footer={<Button onClick={() => sendMessage("Es kommen: " + coming.join(", "))}>Abschicken</Button>}>
      <p>Bitte hake alle an, die zum Sommerfest in unseren Garten kommen.</p>
      {guests.map((g) => <Checkbox key={g} label={"Kommt: " + g} checked={coming.includes(g)} onChange={(on) => setComing(on ? [...coming, g] : coming.filter((c) => c !== g))} />)}
      <Stat label="Freie Plätze" value={10 - coming.length} />
    </Card>
  );
}
