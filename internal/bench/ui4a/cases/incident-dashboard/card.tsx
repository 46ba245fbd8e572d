import { Badge, Card, Disclosure, Grid, RadioGroup, Stat } from "$ui4a/ui";

const incidents = [
  { day: "Monday", what: "Checkout down", minutes: 42, severity: "high", cause: "Expired certificate" },
  { day: "Tuesday", what: "Search slow", minutes: 8, severity: "low", cause: "Cache restart" },
  { day: "Thursday", what: "Login errors", minutes: 15, severity: "low", cause: "Wrong time zone" },
  { day: "Friday", what: "Exports stuck", minutes: 95, severity: "high", cause: "The disk was full" },
];

export default function Incidents() {
  const [severity, setSeverity] = useState("all");
  const shown = incidents.filter((i) => severity === "all" || i.severity === severity);
  return (
    <Card title="Incidents of last week">
      <Grid cols={3} min={100}>
        <Stat label="Incidents" value={incidents.length} />
        <Stat label="Downtime" value={incidents.reduce((s, i) => s + i.minutes, 0)} unit="min" />
        <Stat label="Longest" value={95} unit="min" />
      </Grid>
      <RadioGroup label="Severity" options={["all", "high", "low"]} value={severity} onChange={setSeverity} row />
      {shown.map((i) => (
        <div key={i.what} className="border-t pt-2">
          <p className="font-medium">
            {i.day}: {i.what}, {i.minutes} min <Badge tone={i.severity === "high" ? "danger" : "plain"}>{i.severity}</Badge>
          </p>
          <Disclosure label="Details">{i.cause}</Disclosure>
        </div>
      ))}
    </Card>
  );
}
