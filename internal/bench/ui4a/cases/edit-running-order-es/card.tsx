import { Button, Card, Row, Stack } from "$ui4a/ui";
import { ArrowDown, ArrowUp } from "$ui4a/icons";
import { sendMessage } from "$ui4a/chat";

export default function Discursos() {
  const [orden, setOrden] = useState(["Marta", "Íñigo", "Abuela Pilar"]);
  const mover = (i: number, a: number) => {
    const nuevo = [...orden];
    [nuevo[i], nuevo[a]] = [nuevo[a], nuevo[i]];
    setOrden(nuevo);
  };
  return (
    <Card title="Orden de los discursos de la boda" footer={<Button onClick={() => sendMessage("El orden es: " + orden.join(", "))}>Guardar orden</Button>}>
      <Stack>
        {orden.map((nombre, i) => (
          <Row key={nombre} justify="between">
            <span>{i + 1}. {nombre}</span>
            <Row>
              <Button tone="plain" icon={<ArrowUp />} label={"Subir " + nombre} disabled={i === 0} onClick={() => mover(i, i - 1)} />
              <Button tone="plain" icon={<ArrowDown />} label={"Bajar " + nombre} disabled={i === 2} onClick={() => mover(i, i + 1)} />
            </Row>
          </Row>
        ))}
      </Stack>
    </Card>
  );
}
