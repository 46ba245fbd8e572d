import { Card, Grid, Stat, Switch, Table } from "$ui4a/ui";

const etapas = [
  { etapa: "De Logroño a Santo Domingo", km: 52 },
  { etapa: "De Santo Domingo a Burgos", km: 68 },
  { etapa: "De Burgos a Frómista", km: 66 },
  { etapa: "De Frómista a Sahagún", km: 58 },
];
const total = etapas.reduce((s, e) => s + e.km, 0);

export default function Ruta() {
  const [descanso, setDescanso] = useState(false);
  const dia = (i: number) => 5 + i + (descanso && i > 1 ? 1 : 0) + " de abril";
  const filas = etapas.map((e, i) => ({ ...e, dia: dia(i) }));
  return (
    <Card title="Ruta en bici" subtitle="Cuatro etapas, salida el 5 de abril de 2027">
      <Switch label="Descanso en Burgos" hint="Un día más, después de la segunda etapa" checked={descanso} onChange={setDescanso} />
      <Table label="Etapas" rows={filas} columns={[{ key: "dia", label: "Día" }, { key: "etapa", label: "Etapa" }, { key: "km", label: "km" }]} />
      <Grid>
        <Stat label="Distancia total" value={total} unit="km" />
        <Stat label="Llegada a Sahagún" value={dia(3)} />
      </Grid>
    </Card>
  );
}
