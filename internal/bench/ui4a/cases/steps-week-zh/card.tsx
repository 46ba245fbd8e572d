import { Card, Grid, Slider, Stat } from "$ui4a/ui";
import { Chart } from "$ui4a/charts";

const days = [
  { day: "周一", steps: 7450 },
  { day: "周二", steps: 9120 },
  { day: "周三", steps: 6300 },
  { day: "周四", steps: 8040 },
  { day: "周五", steps: 11200 },
  { day: "周六", steps: 4980 },
  { day: "周日", steps: 8760 },
];
const average = Math.round(days.reduce((s, d) => s + d.steps, 0) / days.length);

export default function Steps() {
  const [goal, setGoal] = useState(8000);
  const met = days.filter((d) => d.steps >= goal);
  return (
    <Card title="上周的步数">
      <Chart kind="bar" label="每天的步数" data={days} x="day" y="steps" />
      <Slider label="每天的目标" unit="步" min={5000} max={12000} step={500} value={goal} onChange={setGoal} />
      <Grid cols={2}>
        <Stat label="平均每天" value={String(average)} unit="步" />
        <Stat label="达标天数" value={met.length} unit="天" />
      </Grid>
      <p>达标的日子：{met.map((d) => d.day).join("、") || "没有"}</p>
    </Card>
  );
}
