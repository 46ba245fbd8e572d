import { Button, Card, Grid, Slider, Stat } from "$ui4a/ui";

const loan = 180000, rate = 0.045 / 12;
const payment = (loan * rate) / (1 - (1 + rate) ** -300);

export default function Overpay() {
  const [extra, setExtra] = useState(150);
  const months = Math.ceil(-Math.log(1 - (loan * rate) / (payment + extra)) / Math.log(1 + rate) - 1e-6);
  return (
    <Card title="Mortgage overpayment" subtitle="£180,000 at 4.5% over 25 years" footer={<Button tone="plain" onClick={() => setExtra(150)}>Reset</Button>}>
      <Slider label="Monthly overpayment" unit="£" max={500} step={50} value={extra} onChange={setExtra} />
      <Grid cols={3} min={110}>
        <Stat label="Regular payment" value={"£" + payment.toFixed(2)} />
        <Stat label="Paid off in" value={months} unit="months" />
        <Stat label="Sooner by" value={300 - months} unit="months" />
      </Grid>
    </Card>
  );
}
