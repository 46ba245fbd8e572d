import { Card, NumberField, RadioGroup, Stat, Table } from "$ui4a/ui";

const cambio = 4312;
const euros = (pesos: number) => (pesos / cambio).toLocaleString("es", { minimumFractionDigits: 2, maximumFractionDigits: 2 }) + " euros";
const pesos = (n: number) => n.toLocaleString("es", { maximumFractionDigits: 0 }) + " pesos";
const lista = [
  { cosa: "Taxi al aeropuerto", p: 38000 },
  { cosa: "Entrada al Museo del Oro", p: 5000 },
  { cosa: "Ajiaco para comer", p: 32000 },
].map(({ cosa, p }) => ({ Qué: cosa, "En pesos": pesos(p), "En euros": euros(p) }));

export default function Cambio() {
  const [importe, setImporte] = useState(100000);
  const [moneda, setMoneda] = useState("pesos");
  return (
    <Card title="Cambio para el viaje" subtitle="1 euro = 4312 pesos colombianos">
      <NumberField label="Importe" min={0} value={importe} onChange={setImporte} />
      <RadioGroup label="El importe está en" options={["pesos", "euros"]} value={moneda} onChange={setMoneda} row />
      <Stat label="En la otra moneda son" value={moneda === "pesos" ? euros(importe) : pesos(importe * cambio)} />
      <Table label="Lo que cuesta cada cosa de tu lista" rows={lista} />
    </Card>
  );
}
