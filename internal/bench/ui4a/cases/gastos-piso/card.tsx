import { Card, RadioGroup, Stat, Table } from "$ui4a/ui";
import { Chart } from "$ui4a/charts";

const gastos = [
  { id: 1, gasto: "Alquiler", persona: "Ana", euros: 840 },
  { id: 2, gasto: "Luz", persona: "Luis", euros: 63.2 },
  { id: 3, gasto: "Internet", persona: "Marta", euros: 29.9 },
  { id: 4, gasto: "Compra", persona: "Luis", euros: 212.35 },
  { id: 5, gasto: "Bombillas", persona: "Marta", euros: 18.5 },
];
const personas = ["Ana", "Luis", "Marta"];
const dinero = (x: number) => x.toFixed(2).replace(".", ",") + " €";
const suma = (lista: typeof gastos) => lista.reduce((s, g) => s + g.euros, 0);

export default function Gastos() {
  const [quien, setQuien] = useState("Todos");
  const vistos = gastos.filter((g) => quien === "Todos" || g.persona === quien);
  return (
    <Card title="Gastos del piso en noviembre">
      <RadioGroup label="Quién lo ha pagado" options={["Todos", ...personas]} value={quien} onChange={setQuien} row />
      <Table
        label="Lo que hemos gastado"
        rows={vistos}
        columns={[{ key: "gasto", label: "Gasto" }, { key: "persona", label: "Persona" }, { key: "euros", label: "Importe", render: dinero }]}
      />
      <Stat label="Total de lo que se ve" value={dinero(suma(vistos))} />
      <Chart kind="bar" label="Lo que ha puesto cada uno" data={personas.map((p) => ({ p, euros: suma(gastos.filter((g) => g.persona === p)) }))} x="p" y="euros" unit="€" height={180} />
    </Card>
  );
}
