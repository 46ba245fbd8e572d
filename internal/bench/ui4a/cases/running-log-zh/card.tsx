import { Button, Card, NumberField, Stat } from "$ui4a/ui";
import { Chart } from "$ui4a/charts";

const three = [{ week: "第一周", km: 12 }, { week: "第二周", km: 15.5 }, { week: "第三周", km: 9 }];

export default function Running() {
  const [km, setKm] = useState(10);
  const [weeks, setWeeks] = useState(three);
  const add = () => setWeeks([...three, { week: "第四周", km }]);
  return (
    <Card title="我的跑步记录" footer={<Button onClick={add}>加入</Button>}>
      <Chart kind="bar" label="每周跑步公里数" data={weeks} x="week" y="km" names={{ km: "公里" }} />
      <Stat label="总公里数" value={weeks.reduce((s, w) => s + w.km, 0)} unit="公里" />
      <NumberField label="第四周的公里数" min={0} max={40} step={0.5} value={km} onChange={setKm} />
    </Card>
  );
}
