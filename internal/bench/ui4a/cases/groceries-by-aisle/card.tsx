import { Card, Checkbox, Switch } from "$ui4a/ui";
import { usePersistedState } from "$ui4a/state";

const aisles = { "Fruit & veg": ["Leeks", "Lemons"], Dairy: ["Butter", "Yoghurt"], Pantry: ["Chickpeas", "Olive oil", "Rice"] };

export default function Groceries() {
  const [ticked, setTicked] = usePersistedState<string[]>("ticked", []);
  const [hide, setHide] = useState(false);
  return (
    <Card title="Shopping by aisle" subtitle={7 - ticked.length + " things left to buy"}>
      <Switch label="Hide ticked" checked={hide} onChange={setHide} />
      {Object.entries(aisles).map(([aisle, things]) => (
        <section key={aisle}>
          <h3 className="font-semibold">{aisle}</h3>
          {things.filter((t) => !hide || !ticked.includes(t)).map((t) => (
            <Checkbox key={t} label={t} checked={ticked.includes(t)} onChange={(on) => setTicked(on ? [...ticked, t] : ticked.filter((x) => x !== t))} />
          ))}
        </section>
      ))}
    </Card>
  );
}
