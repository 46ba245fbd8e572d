import { Alert, Card, Grid, Slider, Stat, Table } from "$ui4a/ui";

const marks = [
  { what: "Pay", harbour: 6, north: 9 },
  { what: "Commute", harbour: 9, north: 4 },
  { what: "Team", harbour: 8, north: 7 },
];

export default function Jobs() {
  const [weights, setWeights] = useState<Record<string, number>>({ Pay: 1, Commute: 1, Team: 1 });
  const harbour = marks.reduce((s, m) => s + weights[m.what] * m.harbour, 0);
  const north = marks.reduce((s, m) => s + weights[m.what] * m.north, 0);
  return (
    <Card title="Which of the two jobs?">
      <Table label="Your marks out of 10" rows={marks} columns={[{ key: "what", label: "Mark for" }, { key: "harbour", label: "Harbour Lab" }, { key: "north", label: "Northline" }]} />
      {marks.map(({ what }) => <Slider key={what} label={"Weight of " + what} min={0} max={5} value={weights[what]} onChange={(w) => setWeights({ ...weights, [what]: w })} />)}
      <Grid>
        <Stat label="Harbour Lab" value={harbour} />
        <Stat label="Northline" value={north} />
      </Grid>
      <Alert>{harbour === north ? "They are level." : (harbour > north ? "Harbour Lab" : "Northline") + " leads."}</Alert>
    </Card>
  );
}
