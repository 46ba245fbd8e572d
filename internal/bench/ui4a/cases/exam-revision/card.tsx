import { Alert, Card, Checkbox, Grid, Slider, Stack, Stat } from "$ui4a/ui";

const topics = { Cells: 4, Genetics: 7, Ecology: 3, Evolution: 5, Physiology: 9 };

export default function Revision() {
  const [hours, setHours] = useState(2);
  const [known, setKnown] = useState<string[]>([]);
  const sum = Object.entries(topics).reduce((s, [t, h]) => s + (known.includes(t) ? 0 : h), 0);
  const days = Math.ceil(sum / hours);
  return (
    <Card title="Biology revision" subtitle="From 7 December to the exam on 18 December: 11 days">
      <Slider label="Hours of study each day" min={1} max={6} value={hours} onChange={setHours} />
      <Stack>
        {Object.entries(topics).map(([t, h]) => (
          <Checkbox key={t} label={`${t}, ${h} hours`} checked={!known.includes(t)} onChange={(on) => setKnown(on ? known.filter((k) => k !== t) : [...known, t])} />
        ))}
      </Stack>
      <Grid>
        <Stat label="Hours to study" value={sum} />
        <Stat label="Days that takes" value={days} />
      </Grid>
      <Alert tone={days > 11 ? "danger" : "success"}>
        {days > 11 ? "Not enough time: you need more hours each day." : "You will be done in time."}
      </Alert>
    </Card>
  );
}
