import { Card, RadioGroup, Table } from "$ui4a/ui";

const months = ["March", "April", "May", "June"];
const seeds = [
  { seed: "Spinach", depth: "2 cm", from: 0, to: 1 },
  { seed: "Carrots", depth: "1 cm", from: 0, to: 3 },
  { seed: "Beans", depth: "4 cm", from: 2, to: 3 },
  { seed: "Beetroot", depth: "3 cm", from: 1, to: 3 },
  { seed: "Radish", depth: "1.5 cm", from: 0, to: 2 },
];

export default function Sowing() {
  const [month, setMonth] = useState("March");
  const m = months.indexOf(month);
  return (
    <Card title="What to sow, and how deep">
      <RadioGroup label="Month" options={months} value={month} onChange={setMonth} row />
      <Table label={"Sow in " + month} rows={seeds.filter((s) => s.from <= m && m <= s.to)} columns={[{ key: "seed", label: "Seed" }, { key: "depth", label: "Depth" }]} />
    </Card>
  );
}
