import { Alert, Button, Card, RadioGroup, Table } from "$ui4a/ui";
import { sendMessage } from "$ui4a/chat";

const rows = [
  { what: "Price", train: "89 €", plane: "132 €" },
  { what: "Time", train: "9.5 hours", plane: "5.5 hours" },
  { what: "CO2", train: "14 kg", plane: "187 kg" },
];

export default function Vienna() {
  const [most, setMost] = useState("Price");
  const winner = most === "Time" ? "Plane" : "Train";
  return (
    <Card title="Train or plane to Vienna?" footer={<Button onClick={() => sendMessage("I take the " + winner)}>Take this one</Button>}>
      <Table label="Door to door" rows={rows} columns={[{ key: "what", label: " " }, { key: "train", label: "Train" }, { key: "plane", label: "Plane" }]} />
      <RadioGroup label="What counts most?" options={["Price", "Time", "CO2"]} value={most} onChange={setMost} row />
      <Alert>The {winner} wins.</Alert>
    </Card>
  );
}
