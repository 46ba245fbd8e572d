import { Alert, Card, Slider, Switch, Table } from "$ui4a/ui";

const machines = [
  { name: "Aro 7", price: 399, noise: 78, energy: 190 },
  { name: "Benta S", price: 549, noise: 72, energy: 120 },
  { name: "Calmo X", price: 729, noise: 69, energy: 95 },
];

export default function Machines() {
  const [years, setYears] = useState(10);
  const [quiet, setQuiet] = useState(false);
  const rows = machines.filter((m) => !quiet || m.noise < 75).map((m) => ({ ...m, total: Math.round(m.price + m.energy * 0.3 * years) }));
  const best = rows.reduce((a, b) => (b.total < a.total ? b : a));
  return (
    <Card title="Three washing machines" subtitle="Energy at 0.30 € per kWh">
      <Slider label="Years of use" min={5} max={15} value={years} onChange={setYears} />
      <Switch label="Only below 75 dB" checked={quiet} onChange={setQuiet} />
      <Table label={`Cost over ${years} years`} rows={rows} columns={[{ key: "name", label: "Machine" }, { key: "price", label: "Price, €" }, { key: "noise", label: "dB" }, { key: "energy", label: "kWh a year" }, { key: "total", label: "In all, €" }]} />
      <Alert tone="success">{best.name} is the cheapest over {years} years.</Alert>
    </Card>
  );
}
