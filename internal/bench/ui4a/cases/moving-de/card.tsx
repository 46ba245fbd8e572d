import { Card, Checkbox, Stack, Switch } from "$ui4a/ui";
import { usePersistedState } from "$ui4a/state";

const tasks = [
  ["Umzugswagen buchen", "bis 5. Dezember"],
  ["Internet ummelden", "bis 12. Dezember"],
  ["Kartons besorgen", "bis 19. Dezember"],
  ["Nachsendeauftrag", "bis 8. Januar"],
  ["Zählerstände ablesen", "am 14. Januar"],
];

export default function Umzug() {
  const [done, setDone] = usePersistedState<string[]>("done", []);
  const [only, setOnly] = useState(false);
  return (
    <Card title="Umzug am 15. Januar 2027" subtitle={`Noch offen: ${5 - done.length} von 5 Aufgaben`}>
      <Switch label="Nur offene" checked={only} onChange={setOnly} />
      <Stack>
        {tasks.filter(([t]) => !only || !done.includes(t)).map(([t, date]) => (
          <Checkbox key={t} label={t} hint={date} checked={done.includes(t)} onChange={(on) => setDone(on ? [...done, t] : done.filter((d) => d !== t))} />
        ))}
      </Stack>
    </Card>
  );
}
