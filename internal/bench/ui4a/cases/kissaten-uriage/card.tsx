import { Card, Grid, RadioGroup, Stat } from "$ui4a/ui";
import { Chart } from "$ui4a/charts";

const days = [
  { day: "月", guests: 42 },
  { day: "火", guests: 38 },
  { day: "水", guests: 45 },
  { day: "木", guests: 40 },
  { day: "金", guests: 61 },
  { day: "土", guests: 88 },
  { day: "日", guests: 71 },
];

export default function Kissaten() {
  const [which, setWhich] = useState("全部");
  const shown = which === "全部" ? days : which === "平日" ? days.slice(0, 5) : days.slice(5);
  const sum = shown.reduce((s, d) => s + d.guests, 0);
  const most = shown.reduce((a, b) => (b.guests > a.guests ? b : a));
  return (
    <Card title="曜日ごとのお客さまの数">
      <RadioGroup label="どの日を見ますか" options={["全部", "平日", "週末"]} value={which} onChange={setWhich} row />
      <Chart kind="bar" label="曜日ごとの来客数" data={shown} x="day" y="guests" />
      <Grid cols={3} min={100}>
        <Stat label="合計" value={sum} unit="人" />
        <Stat label="一日の平均" value={(sum / shown.length).toFixed(1)} unit="人" />
        <Stat label="いちばん多い曜日" value={most.day + "曜日"} />
      </Grid>
    </Card>
  );
}
