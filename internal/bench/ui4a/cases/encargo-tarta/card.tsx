import { Button, Card, Field, RadioGroup, Stat } from "$ui4a/ui";
import { sendMessage } from "$ui4a/chat";

export default function Tarta() {
  const [sabor, setSabor] = useState("chocolate");
  const [raciones, setRaciones] = useState("12");
  const [texto, setTexto] = useState("Felicidades, Hugo");
  const [fecha, setFecha] = useState("2026-12-19");
  const quedan = 30 - texto.length;
  const pedir = () => sendMessage(`Encargo una tarta de ${sabor} de ${raciones} raciones para el ${fecha}, con el texto "${texto}"`);
  return (
    <Card title="La tarta de cumpleaños de Hugo" footer={<Button disabled={quedan < 0} onClick={pedir}>Hacer el encargo</Button>}>
      <RadioGroup label="Sabor" options={["chocolate", "limón", "zanahoria"]} value={sabor} onChange={setSabor} row />
      <RadioGroup label="Raciones, a 2,80 € cada una" options={["8", "12", "16"]} value={raciones} onChange={setRaciones} row />
      <Field label="Texto de encima" value={texto} onChange={setTexto} hint={`Quedan ${Math.max(0, quedan)} letras`} error={quedan < 0 ? "Como máximo 30 letras" : ""} />
      <Field label="Fecha de recogida" type="date" value={fecha} onChange={setFecha} />
      <Stat label="Total" value={(Number(raciones) * 2.8).toFixed(2).replace(".", ",") + " €"} />
    </Card>
  );
}
