import { Button, Card, RadioGroup, Stat, Switch } from "$ui4a/ui";
import { sendMessage } from "$ui4a/chat";

const places = [
  { name: "Nile", price: 14, walk: 6, vegan: true },
  { name: "Hanok", price: 18, walk: 3, vegan: false },
  { name: "La Rueda", price: 21, walk: 12, vegan: false },
  { name: "Green Door", price: 16, walk: 9, vegan: true },
];

export default function TeamLunch() {
  const [vegan, setVegan] = useState(false);
  const [name, setName] = useState("");
  const shown = places.filter((p) => p.vegan || !vegan);
  const pick = shown.find((p) => p.name === name);
  const total = pick ? 8 * pick.price : 0;
  return (
    <Card
      title="Where do we go for the team lunch?"
      footer={<Button disabled={!pick} onClick={() => sendMessage(`Suggest ${name} for the team lunch, $${total} for 8 people`)}>Suggest it</Button>}
    >
      <Switch label="Only with vegan dishes" checked={vegan} onChange={setVegan} />
      <RadioGroup
        label="Place"
        options={shown.map((p) => ({ value: p.name, label: `${p.name}: $${p.price} a head, ${p.walk} min walk${p.vegan ? ", vegan dishes" : ""}` }))}
        value={name}
        onChange={setName}
      />
      <Stat label="Total for 8 people" value={pick ? "$" + total : "Pick a place first"} />
    </Card>
  );
}
