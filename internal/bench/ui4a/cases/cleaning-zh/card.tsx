import { Badge, Button, Card, RadioGroup, Row } from "$ui4a/ui";
import { sendMessage } from "$ui4a/chat";

const chores = ["擦窗户", "洗地毯", "整理书架"];
const people = ["爸爸", "妈妈", "小雨"];

export default function Cleaning() {
  const [who, setWho] = useState<Record<string, string>>({});
  const given = Object.values(who);
  const send = () => sendMessage("分工：" + chores.map((c) => c + "由" + who[c] + "负责").join("，"));
  return (
    <Card title="周六大扫除分工" subtitle="请为每一项家务选一个人" footer={<Button onClick={send} disabled={given.length < chores.length}>确定分工</Button>}>
      {chores.map((c) => <RadioGroup key={c} label={c} options={people} value={who[c] ?? ""} onChange={(p) => setWho({ ...who, [c]: p })} row />)}
      <Row>
        {people.map((p) => <Badge key={p}>{p}分到 {given.filter((g) => g === p).length} 项</Badge>)}
      </Row>
    </Card>
  );
}
