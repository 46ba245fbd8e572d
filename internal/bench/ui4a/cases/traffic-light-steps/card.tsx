import { Button, Card } from "$ui4a/ui";

const phases = [
  { on: ["red"], say: "Stop" },
  { on: ["red", "amber"], say: "Get ready" },
  { on: ["green"], say: "Go" },
  { on: ["amber"], say: "Stop if you can" },
];
const lamps = [["red", "fill-danger"], ["amber", "fill-warn"], ["green", "fill-success"]];

export default function TrafficLight() {
  const [at, setAt] = useState(0);
  const { on, say } = phases[at];
  return (
    <Card title="Traffic light" footer={<Button onClick={() => setAt((at + 1) % 4)}>Change</Button>}>
      <svg viewBox="0 0 60 180" role="img" aria-label={"The light is " + on.join(" and ")} className="block h-48 mx-auto">
        {lamps.map(([name, fill], i) => <circle key={name} cx={30} cy={30 + 60 * i} r={26} className={"stroke-border " + (on.includes(name) ? fill : "fill-surface-3")} />)}
      </svg>
      <p className="text-2xl text-center" aria-live="polite">{say}</p>
    </Card>
  );
}
