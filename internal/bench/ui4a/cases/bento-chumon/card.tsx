import { Button, Card, NumberField, RadioGroup, Stat, Switch } from "$ui4a/ui";
import { sendMessage } from "$ui4a/chat";

const bentos = [
  { name: "幕の内弁当", price: 980, egg: true },
  { name: "のり弁当", price: 550, egg: false },
  { name: "唐揚げ弁当", price: 720, egg: true },
  { name: "野菜弁当", price: 830, egg: false },
];

export default function Bento() {
  const [noEgg, setNoEgg] = useState(false);
  const [name, setName] = useState("");
  const [count, setCount] = useState(8);
  const shown = bentos.filter((b) => !noEgg || !b.egg);
  const pick = shown.find((b) => b.name === name);
  return (
    <Card title="会議のお弁当" footer={<Button disabled={!pick} onClick={() => sendMessage(`${name}を${count}個注文します`)}>注文する</Button>}>
      <Switch label="卵を使っていないものだけ" checked={noEgg} onChange={setNoEgg} />
      <RadioGroup label="お弁当" options={shown.map((b) => ({ value: b.name, label: `${b.name} ${b.price}円` }))} value={name} onChange={setName} />
      <NumberField label="個数" min={1} max={20} step={1} value={count} onChange={setCount} />
      <Stat label="合計" value={pick ? pick.price * count + "円" : "お弁当を選んでください"} />
    </Card>
  );
}
