import { Alert, Card, RadioGroup } from "$ui4a/ui";
import { usePersistedState } from "$ui4a/state";

const parts = ["Brakes", "Tyres", "Chain", "Lights"];

export default function BikeInspection() {
  const [said, setSaid] = usePersistedState<Record<string, string>>("said", {});
  const checked = parts.filter((p) => said[p]);
  const fix = parts.filter((p) => said[p] === "Fix");
  return (
    <Card title="Checking the bike before the tour" subtitle={`${checked.length} of 4 checked`}>
      {parts.map((p) => (
        <RadioGroup key={p} label={p} options={["Fine", "Fix"]} value={said[p] ?? ""} onChange={(v) => setSaid({ ...said, [p]: v })} row />
      ))}
      {checked.length === 4 && (fix.length ? <Alert tone="warn">To be fixed: {fix.join(", ")}</Alert> : <Alert tone="success">Ready to ride</Alert>)}
    </Card>
  );
}
