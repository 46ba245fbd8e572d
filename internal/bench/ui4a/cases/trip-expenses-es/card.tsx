import { Alert, Button, Card, Field, NumberField, RadioGroup, Stat, Table } from "$ui4a/ui";

export default function Gastos() {
  const [gastos, setGastos] = useState([{ concepto: "hotel", importe: 84, quien: "Nora" }, { concepto: "gasolina", importe: 36, quien: "Teo" }]);
  const [concepto, setConcepto] = useState("");
  const [importe, setImporte] = useState(10);
  const [quien, setQuien] = useState("Nora");
  const total = gastos.reduce((s, g) => s + g.importe, 0);
  const nora = gastos.reduce((s, g) => s + (g.quien === "Nora" ? g.importe : 0), 0);
  const deuda = nora - total / 2;
  return (
    <Card title="Gastos del viaje" footer={<Button onClick={() => setGastos([...gastos, { concepto: concepto || "otro", importe, quien }])}>Añadir gasto</Button>}>
      <Table label="Lista de gastos" rows={gastos} columns={[{ key: "concepto", label: "Concepto" }, { key: "quien", label: "Pagó" }, { key: "importe", label: "Importe en €" }]} />
      <Stat label="Total del viaje" value={total} unit="€" />
      <Alert>{deuda === 0 ? "Estáis en paz." : deuda > 0 ? `Teo debe ${deuda} € a Nora.` : `Nora debe ${-deuda} € a Teo.`}</Alert>
      <p>Añade aquí lo que habéis pagado; cada uno paga la mitad de todo.</p>
      <Field label="Concepto del gasto" value={concepto} onChange={setConcepto} />
      <NumberField label="Importe" unit="€" min={1} value={importe} onChange={setImporte} />
      <RadioGroup label="Quién pagó" options={["Nora", "Teo"]} value={quien} onChange={setQuien} row />
    </Card>
  );
}
