import { Button, Card, RadioGroup, Stat } from "$ui4a/ui";
import { sendMessage } from "$ui4a/chat";

const courses: Record<string, Record<string, number>> = {
  Entrée: { "Velouté de potiron": 7, "Saumon gravlax": 9 },
  Plat: { "Blanquette de veau": 16.5, "Magret de canard": 19, "Risotto aux cèpes": 15 },
  Dessert: { "Tarte aux pommes": 5.5, "Mousse au chocolat": 5 },
};
const euros = (x: number) => x.toFixed(2).replace(".", ",") + " €";

export default function Menu() {
  const [picked, setPicked] = useState<Record<string, string>>({});
  const all = Object.entries(picked);
  const sum = all.reduce((s, [course, dish]) => s + courses[course][dish], 0);
  const send = () => sendMessage("Menu choisi : " + all.map(([, dish]) => dish).join(", "));
  return (
    <Card title="Le menu des 70 ans de papa" footer={<Button disabled={all.length < 3} onClick={send}>Envoyer le menu</Button>}>
      {Object.entries(courses).map(([course, dishes]) => (
        <RadioGroup
          key={course}
          label={course}
          options={Object.entries(dishes).map(([value, price]) => ({ value, label: `${value}, ${euros(price)}` }))}
          value={picked[course] ?? ""}
          onChange={(dish) => setPicked({ ...picked, [course]: dish })}
        />
      ))}
      <Stat label="Prix par personne" value={euros(sum)} />
    </Card>
  );
}
