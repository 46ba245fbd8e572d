import { Button, Card, Checkbox, Grid, Stat } from "$ui4a/ui";
import { usePersistedState } from "$ui4a/state";

const days = ["月曜日", "火曜日", "水曜日", "木曜日", "金曜日", "土曜日", "日曜日"];

export default function Habits() {
  const [done, setDone] = usePersistedState<string[]>("done", []);
  const miss = days.findIndex((d) => !done.includes(d));
  return (
    <Card title="今週の早起き" subtitle="早く起きられた日にチェックをつけてください" footer={<Button tone="plain" onClick={() => setDone([])}>リセット</Button>}>
      <Grid min={110}>
        {days.map((d) => <Checkbox key={d} label={d} checked={done.includes(d)} onChange={(on) => setDone(on ? [...done, d] : done.filter((x) => x !== d))} />)}
      </Grid>
      <Grid>
        <Stat label="できた日" value={done.length} unit="日" />
        <Stat label="月曜から続いた日" value={miss < 0 ? 7 : miss} unit="日" />
      </Grid>
    </Card>
  );
}
