import { Button, Card, Field, RadioGroup, Switch } from "$ui4a/ui";
import { sendMessage } from "$ui4a/chat";

export default function Repair() {
  const [kind, setKind] = useState("水管");
  const [room, setRoom] = useState("3栋502");
  const [urgent, setUrgent] = useState(false);
  const [text, setText] = useState("");
  const [tried, setTried] = useState(false);
  const send = () => {
    setTried(true);
    if (text.trim()) sendMessage(`${room}报修${kind}，${urgent ? "紧急" : "不急"}：${text}`);
  };
  return (
    <Card title="向物业报修" footer={<Button onClick={send}>提交报修</Button>}>
      <RadioGroup label="问题类型" options={["水管", "电路", "门锁"]} value={kind} onChange={setKind} row />
      <Field label="房号" value={room} onChange={setRoom} />
      <Switch label="紧急" checked={urgent} onChange={setUrgent} />
      <Field label="问题描述" rows={3} value={text} onChange={setText} error={tried && !text.trim() ? "请先写下问题描述。" : ""} />
    </Card>
  );
}
