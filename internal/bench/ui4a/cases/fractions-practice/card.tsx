import { Alert, Button, Card, Field, Grid } from "$ui4a/ui";
import { MathBlock } from "$ui4a/katex";

export default function Fractions() {
  const [top, setTop] = useState("");
  const [bottom, setBottom] = useState("");
  const [checked, setChecked] = useState(false);
  const right = Number(bottom) > 0 && Number(top) * 12 === Number(bottom) * 7;
  return (
    <Card title="Add the fractions" footer={<Button onClick={() => setChecked(true)}>Check</Button>}>
      <MathBlock tex="\frac{1}{3} + \frac{1}{4} = \;?" />
      <Grid>
        <Field label="Numerator" value={top} onChange={(v) => { setTop(v); setChecked(false); }} />
        <Field label="Denominator" value={bottom} onChange={(v) => { setBottom(v); setChecked(false); }} />
      </Grid>
      {checked && <Alert tone={right ? "success" : "warn"}>{right ? "That is right. Well done!" : "Not yet. Hint: the common denominator is 12."}</Alert>}
    </Card>
  );
}
