import { Alert, Button, Card, Grid, NumberField, RadioGroup, Stat } from "$ui4a/ui";

export default function Envelopes() {
  const [left, setLeft] = useState<Record<string, number>>({ Groceries: 420, "Eating out": 90, Bus: 60 });
  const [amount, setAmount] = useState(10);
  const [name, setName] = useState("Groceries");
  const [said, setSaid] = useState("");
  const spend = () => {
    if (amount > left[name]) return setSaid(`There is not enough left for ${name}.`);
    setLeft({ ...left, [name]: left[name] - amount });
    setSaid("");
  };
  return (
    <Card title="Envelopes for December" footer={<Button onClick={spend}>Spend</Button>}>
      <Grid>
        {Object.entries(left).map(([n, sum]) => <Stat key={n} label={n} value={"$" + sum} />)}
        <Stat label="Left in all" value={"$" + Object.values(left).reduce((a, b) => a + b)} />
      </Grid>
      <p>Enter what you have spent and choose the envelope it comes from.</p>
      <NumberField label="Amount" unit="$" min={1} value={amount} onChange={setAmount} />
      <RadioGroup label="Envelope" options={Object.keys(left)} value={name} onChange={setName} row />
      {said && <Alert tone="warn">{said}</Alert>}
    </Card>
  );
}
