import { Alert, Card, Grid, NumberField, Slider, Stat } from "$ui4a/ui";

export default function Rate() {
  const [income, setIncome] = useState(60000);
  const [costs, setCosts] = useState(9000);
  const [off, setOff] = useState(6);
  const [week, setWeek] = useState(25);
  const hours = (52 - off) * week;
  const rate = (income + costs) / hours;
  return (
    <Card title="What to charge an hour">
      <Grid cols={2}>
        <NumberField label="Yearly income before tax" unit="$" min={0} step={1000} value={income} onChange={setIncome} />
        <NumberField label="Yearly costs" unit="$" min={0} step={500} value={costs} onChange={setCosts} />
      </Grid>
      <Slider label="Weeks off" max={20} value={off} onChange={setOff} />
      <Slider label="Billable hours a week" min={5} max={45} value={week} onChange={setWeek} />
      <Grid cols={2}>
        <Stat label="Hourly rate" value={"$" + rate.toFixed(2)} />
        <Stat label="Billable hours in a year" value={hours} />
      </Grid>
      {rate > 75 && <Alert tone="warn">Over $75: that is above what the agency pays.</Alert>}
    </Card>
  );
}
