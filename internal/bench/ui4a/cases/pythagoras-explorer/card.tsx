import { Card, Slider, Stat } from "$ui4a/ui";

export default function Pythagoras() {
  const [a, setA] = useState(3);
  const [b, setB] = useState(4);
  return (
    <Card title="The theorem of Pythagoras">
      <Slider label="Leg a" min={1} max={12} value={a} onChange={setA} />
      <Slider label="Leg b" min={1} max={12} value={b} onChange={setB} />
      <svg viewBox="0 0 14 14" role="img" aria-label="Triangle with the legs a and b" className="w-full max-h-64">
        <polygon points={`1,13 ${1 + a},13 1,${13 - b}`} className="fill-accent" />
      </svg>
      <p>a² + b² = {a * a} + {b * b} = {a * a + b * b} = c²</p>
      <Stat label="Hypotenuse c" value={Math.hypot(a, b).toFixed(2)} />
    </Card>
  );
}
