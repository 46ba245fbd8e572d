import { Alert, Button, Card, Checkbox } from "$ui4a/ui";
import { usePersistedState } from "$ui4a/state";

const chores: Record<string, number> = { "Empty the dishwasher": 5, "Water the plants": 3, "Feed the hamster": 4, "Hoover the stairs": 8 };

export default function Chores() {
  const [done, setDone] = usePersistedState<string[]>("done", []);
  const points = done.reduce((s, c) => s + chores[c], 0);
  return (
    <Card title="Chores for a cinema ticket" footer={<Button tone="plain" onClick={() => setDone([])}>New day</Button>}>
      {Object.entries(chores).map(([c, p]) => (
        <Checkbox key={c} label={`${c}, ${p} points`} checked={done.includes(c)} onChange={(on) => setDone(on ? [...done, c] : done.filter((d) => d !== c))} />
      ))}
      <Alert tone={points < 20 ? "accent" : "success"}>
        {points} points. {points < 20 ? 20 - points + " are missing until the ticket." : "Ticket earned!"}
      </Alert>
    </Card>
  );
}
