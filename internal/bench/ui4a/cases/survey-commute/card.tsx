import { Card, RadioGroup } from "$ui4a/ui";
import { Chart } from "$ui4a/charts";

const answers = Object.entries({ Train: 14, Car: 11, Bike: 9, Walking: 4, Bus: 2 }).map(([way, people]) => ({ way, people, percent: people * 2.5 }));

export default function Survey() {
  const [unit, setUnit] = useState("People");
  const percent = unit === "Percent";
  return (
    <Card title="How forty people come to work">
      <RadioGroup label="Show" options={["People", "Percent"]} value={unit} onChange={setUnit} row />
      <Chart kind="bar" horizontal label="Answers, from most to least" data={answers} x="way" y={percent ? "percent" : "people"} unit={percent ? "%" : undefined} />
      <p>29 of the 40 people come without a car.</p>
    </Card>
  );
}
