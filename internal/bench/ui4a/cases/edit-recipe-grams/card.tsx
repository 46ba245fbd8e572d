import { Card, RadioGroup } from "$ui4a/ui";

const parts = [["flour", 2, 120], ["sugar", 1.5, 200], ["butter", 0.8, 225]] as const;

export default function Recipe() {
  const [unit, setUnit] = useState("Grams");
  return (
    <Card title="Lemon loaf">
      <RadioGroup label="Units" options={["Grams", "Cups"]} value={unit} onChange={setUnit} row />
      <ul className="list-disc pl-5">
        {parts.map(([name, cups, grams]) => <li key={name}>{unit === "Cups" ? `${cups} cups` : `${cups * grams} g`} {name}</li>)}
        <li>3 eggs</li>
      </ul>
      <p>Beat the butter with the sugar, stir in everything else and bake it until the top is golden.</p>
    </Card>
  );
}
