import { Card, RadioGroup, Table } from "$ui4a/ui";

const items = [["開会式", 540], ["玉入れ", 570], ["綱引き", 615], ["リレー", 660]] as const;
const clock = (m: number) => Math.floor(m / 60) + ":" + String(m % 60).padStart(2, "0");

export default function Undokai() {
  const [sky, setSky] = useState("晴天");
  const late = sky === "雨天" ? 30 : 0;
  const rows = items.map(([name, at]) => ({ 開始: clock(at + late), 種目: name }));
  return (
    <Card title="町内運動会の進行表" subtitle="雨天のときは、すべての種目が30分遅れて始まります">
      <RadioGroup label="天気を選んでください" options={["晴天", "雨天"]} value={sky} onChange={setSky} row />
      <Table label="進行表" rows={rows} />
    </Card>
  );
}
