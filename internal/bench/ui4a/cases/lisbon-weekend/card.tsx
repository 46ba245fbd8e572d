import { Card, Checkbox, Progress, Stack, Tab, Tabs } from "$ui4a/ui";
import { usePersistedState } from "$ui4a/state";

const plan = {
  Friday: ["17:00 Check-in at Pensao Rosa", "18:30 Viewpoint Graca", "20:30 Dinner at Taberna Azul"],
  Saturday: ["10:00 Tram 28", "13:00 Lunch at the market", "21:00 Fado night"],
  Sunday: ["9:30 Tile museum", "14:15 Airport bus"],
};

export default function Lisbon() {
  const [done, setDone] = usePersistedState<string[]>("done", []);
  return (
    <Card title="Lisbon" subtitle="11 to 13 December">
      <Progress label={done.length + " of 8 done"} value={done.length} max={8} />
      <Tabs label="Day">
        {Object.entries(plan).map(([day, things]) => (
          <Tab key={day} label={day}>
            <Stack>
              {things.map((t) => <Checkbox key={t} label={t} checked={done.includes(t)} onChange={(on) => setDone(on ? [...done, t] : done.filter((d) => d !== t))} />)}
            </Stack>
          </Tab>
        ))}
      </Tabs>
    </Card>
  );
}
