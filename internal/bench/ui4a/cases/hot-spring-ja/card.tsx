import { Button, Card, RadioGroup, Slider, Stat } from "$ui4a/ui";
import { sendMessage } from "$ui4a/chat";

const plans = { 素泊まり: 9000, 朝食付き: 10500, 二食付き: 14800 };

export default function Onsen() {
  const [nights, setNights] = useState(1);
  const [plan, setPlan] = useState("朝食付き");
  return (
    <Card title="温泉宿「山ぼうし」の予約" footer={<Button onClick={() => sendMessage(`山ぼうしを ${plan}、${nights} 泊で予約します`)}>予約する</Button>}>
      <Slider label="泊数" unit="泊" min={1} max={4} value={nights} onChange={setNights} />
      <RadioGroup label="食事を選んでください" options={Object.entries(plans).map(([p, yen]) => ({ value: p, label: `${p} 1泊${yen}円` }))} value={plan} onChange={setPlan} />
      <Stat label="合計金額" value={plans[plan] * nights} unit="円" />
    </Card>
  );
}
