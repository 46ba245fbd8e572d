import { Button, Card, RadioGroup, Slider, Switch } from "$ui4a/ui";
import { sendMessage } from "$ui4a/chat";

export default function Haircut() {
  const [style, setStyle] = useState("");
  const [fringe, setFringe] = useState(false);
  const [cm, setCm] = useState(5);
  const most = style === "Long layers" ? 8 : 20;
  const choose = (s: string) => {
    setStyle(s);
    if (s === "Long layers") setCm(Math.min(cm, 8));
  };
  const wish = `${style || "No style yet"}, ${fringe ? "with" : "without"} a fringe, ${cm} cm off.`;
  return (
    <Card title="What I'd like at the hairdresser's" footer={<Button disabled={!style} onClick={() => sendMessage(wish)}>Save wish</Button>}>
      <img src="asset:me" alt="You, with shoulder-length straight brown hair" className="w-full max-w-xs rounded" />
      <RadioGroup label="Style" options={["Bob", "Pixie", "Long layers"]} value={style} onChange={choose} row />
      <Switch label="Fringe" checked={fringe} onChange={setFringe} />
      <Slider label="Cut off" unit="cm" min={2} max={most} value={cm} onChange={setCm} hint={most === 8 ? "At most 8 cm with long layers" : undefined} />
      <p aria-live="polite">{wish}</p>
    </Card>
  );
}
