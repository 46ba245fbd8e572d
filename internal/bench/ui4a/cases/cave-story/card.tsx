import { Button, Card, Row } from "$ui4a/ui";

const scenes = {
  start: { text: "Pip wakes up in a dark cave. Two tunnels lead away from his favourite stone. Where should he fly?", ways: { Left: "left", Right: "right" } },
  left: { text: "Pip comes to a lake. A fish asks: what has wings and sleeps upside down? Pip laughs. It is me, a bat!", ways: { "Fly on": "home" } },
  right: { text: "Pip comes to a crystal hall. Everything glitters, but it is so cold that he shivers.", ways: { "Fly on": "home" } },
  home: { text: "Soon Pip is home, and his mother wraps her wings around him. Good night, Pip.", ways: { "Start again": "start" } },
};

export default function Cave() {
  const [at, setAt] = useState("start");
  const [way, setWay] = useState<string[]>([]);
  const go = (label: string, to: string) => { setAt(to); setWay(to === "start" ? [] : [...way, label]); };
  return (
    <Card title="Pip the bat" subtitle={"Your way: " + (way.join(", ") || "none yet")}>
      <p aria-live="polite">{scenes[at].text}</p>
      <Row>
        {Object.entries(scenes[at].ways).map(([label, to]) => <Button key={label} onClick={() => go(label, to)}>{label}</Button>)}
      </Row>
    </Card>
  );
}
