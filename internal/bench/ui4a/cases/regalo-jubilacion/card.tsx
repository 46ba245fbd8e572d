import { Button, Card, Slider, Stack, Stat } from "$ui4a/ui";
import { sendMessage } from "$ui4a/chat";

const regalos = [
  { nombre: "Tumbona para la terraza", precio: 95 },
  { nombre: "Cámara instantánea", precio: 119 },
  { nombre: "Fin de semana en un balneario", precio: 230 },
  { nombre: "Bicicleta plegable", precio: 310 },
];

export default function Regalo() {
  const [cada, setCada] = useState(10);
  const [nombre, setNombre] = useState("");
  const total = 12 * cada;
  const elegido = regalos.find((r) => r.nombre === nombre && r.precio <= total);
  return (
    <Card title="El regalo para Carmen" footer={<Button disabled={!elegido} onClick={() => sendMessage(`Propongo: ${nombre}, ponemos ${cada} € cada uno`)}>Proponer</Button>}>
      <Slider label="Lo que pone cada uno" unit="€" min={5} max={30} value={cada} onChange={setCada} />
      <Stat label="Juntamos entre los 12" value={total + " €"} />
      <Stack gap={2}>
        {regalos.map((r) => (
          <Button key={r.nombre} tone="plain" disabled={r.precio > total} pressed={elegido === r} onClick={() => setNombre(r.nombre)}>
            {r.nombre}, {r.precio} €
          </Button>
        ))}
      </Stack>
      <p className="text-muted">Los que cuestan más de lo que juntamos no se pueden elegir.</p>
    </Card>
  );
}
