import { Button, Card, Grid, Slider, Stat } from "$ui4a/ui";
import { usePersistedState } from "$ui4a/state";

const bill = 86.4;
const money = (x: number) => "$" + x.toFixed(2);

export default function SplitBill() {
  const [people, setPeople] = usePersistedState("people", 3);
  const [tip, setTip] = usePersistedState("tip", 10);
  const reset = () => { setPeople(3); setTip(10); };
  return (
    <Card title="Split the bill" subtitle={"Bill: " + money(bill)} footer={<Button tone="plain" onClick={reset}>Reset</Button>}>
      <Slider label="People" min={1} max={12} value={people} onChange={setPeople} />
      <Slider label="Tip" min={0} max={30} step={5} unit="%" value={tip} onChange={setTip} />
      <Grid cols={2}>
        <Stat label="Tip" value={money((bill * tip) / 100)} />
        <Stat label="Each pays" value={money((bill * (1 + tip / 100)) / people)} />
      </Grid>
    </Card>
  );
}
