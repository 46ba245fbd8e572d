import { Card, Checkbox, Progress, Tab, Tabs } from "$ui4a/ui";
import { usePersistedState } from "$ui4a/state";

const parts = {
  "4 weeks before": ["Hand in notice", "Book the van", "Order boxes"],
  "1 week before": ["Defrost the freezer", "Pack the books", "Tell the neighbours"],
  "Moving day": ["Read the meter", "Sweep the flat", "Hand over the keys"],
};

export default function MovingHouse() {
  const [done, setDone] = usePersistedState<string[]>("done", []);
  return (
    <Card title="Our move on 27 February 2027">
      <Progress label={`${done.length} of 9 things done`} value={done.length} max={9} />
      <Tabs label="When">
        {Object.entries(parts).map(([when, things]) => (
          <Tab key={when} label={when}>
            {things.map((t) => (
              <Checkbox key={t} label={t} checked={done.includes(t)} onChange={(on) => setDone(on ? [...done, t] : done.filter((d) => d !== t))} />
            ))}
          </Tab>
        ))}
      </Tabs>
    </Card>
  );
}
