import { Button, Card, Checkbox, Progress, Stack } from "$ui4a/ui";
import { usePersistedState } from "$ui4a/state";

const things = ["Sleeping bag liner", "Hut shoes", "Headlamp", "Warm jacket", "First-aid kit", "Cash (no cards)"];

export default function Packing() {
  const [packed, setPacked] = usePersistedState<string[]>("packed", []);
  const tick = (thing: string) => (on: boolean) => setPacked(on ? [...packed, thing] : packed.filter((p) => p !== thing));
  return (
    <Card title="Packing for the hut" subtitle="4 to 6 December" footer={<Button tone="plain" onClick={() => setPacked([])}>Start over</Button>}>
      <Progress label={packed.length + " of " + things.length + " packed"} value={packed.length} max={things.length} />
      <Stack>
        {things.map((t) => <Checkbox key={t} label={t} checked={packed.includes(t)} onChange={tick(t)} />)}
      </Stack>
    </Card>
  );
}
