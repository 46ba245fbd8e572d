import { Button, Card, RadioGroup, Switch } from "$ui4a/ui";
import { sendMessage } from "$ui4a/chat";

const plants = [
  { name: "Snake plant", dark: true, safe: false },
  { name: "Cast iron plant", dark: true, safe: true },
  { name: "Parlour palm", dark: true, safe: true },
  { name: "Fiddle-leaf fig", dark: false, safe: false },
  { name: "Peace lily", dark: true, safe: false },
];

export default function HallwayPlant() {
  const [dark, setDark] = useState(false);
  const [safe, setSafe] = useState(false);
  const [name, setName] = useState("");
  const left = plants.filter((p) => (p.dark || !dark) && (p.safe || !safe));
  const picked = left.some((p) => p.name === name);
  return (
    <Card title="A plant for the hallway" footer={<Button disabled={!picked} onClick={() => sendMessage("Reserve the " + name)}>Reserve it</Button>}>
      <Switch label="Low light" checked={dark} onChange={setDark} />
      <Switch label="Safe for cats" checked={safe} onChange={setSafe} />
      <RadioGroup
        label={left.length + (left.length === 1 ? " plant left" : " plants left")}
        options={left.map((p) => ({ value: p.name, label: `${p.name}: ${p.dark ? "low light" : "needs bright light"}, ${p.safe ? "safe for" : "toxic to"} cats` }))}
        value={name}
        onChange={setName}
      />
    </Card>
  );
}
