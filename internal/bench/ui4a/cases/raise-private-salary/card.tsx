import { Button, Card, Field, RadioGroup, Stat } from "$ui4a/ui";
import { sendAction } from "$ui4a/chat";
import { usePersistedState, usePrivateState } from "$ui4a/state";

export default function Raise() {
  const [salary, setSalary] = usePrivateState("salary", "");
  const [percent, setPercent] = usePersistedState("percent", "5");
  const next = Number(salary) * (1 + Number(percent) / 100);
  return (
    <Card title="What a raise would mean" footer={<Button onClick={() => sendAction({ name: "ask-for-raise", reads: ["percent"] })}>Ask for this raise</Button>}>
      <Field label="Your salary in a year" hint="It stays with you; the assistant does not see it." value={salary} onChange={setSalary} />
      <RadioGroup label="Raise" options={["3", "5", "8"].map((value) => ({ value, label: value + "%" }))} value={percent} onChange={setPercent} row />
      <Stat label="New salary" value={next > 0 ? Math.round(next) : "–"} />
    </Card>
  );
}
