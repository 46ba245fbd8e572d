import { Button, Card } from "$ui4a/ui";

const phases = [
  { on: ["red"], say: "Stop" },
  { on: ["red", "amber"], say: "Get ready" },
  { on: ["green"], say: "Go" },
  { on: ["amber"], say: "Stop if you can" },
];
const lamps = [["red", "bg-danger"], ["amber", "bg-warn"], ["green", "bg-success"]];

export default function TrafficLight() {
  const [at, setAt] = useState(0);
  const { on, say } = phases[at];
  return (
    <Card title="Traffic light" footer={<Button onClick={() => setAt((at + 1) % 4)}>Change</Button>}>
      <div role="img" aria-label={"The light is " + on.join(" and ")} className="space-y-2 p-3 w-24 mx-auto border rounded-xl">
        {lamps.map(([name, colour]) => <div key={name} className={"size-16 mx-auto rounded-full border " + (on.includes(name) ? colour : "bg-surface-3")} />)}
      </div>
      <p className="text-2xl text-center" aria-live="polite">{say}</p>
    </Card>
  );
}
