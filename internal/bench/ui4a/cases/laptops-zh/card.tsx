import { Alert, Button, Card, RadioGroup, Table } from "$ui4a/ui";
import { sendMessage } from "$ui4a/chat";

const rows = [
  { 型号: "青竹14", 价格: "5299元", 重量: "1.2千克", 内存: "16GB" },
  { 型号: "铁山16", 价格: "6899元", 重量: "2.3千克", 内存: "32GB" },
];

export default function Laptops() {
  const [use, setUse] = useState("出差");
  const best = use === "出差" ? "青竹14" : "铁山16";
  return (
    <Card title="两台笔记本比较" footer={<Button onClick={() => sendMessage("就买" + best)}>就买这台</Button>}>
      <Table label="价格、重量和内存" rows={rows} />
      <RadioGroup label="主要用途" options={["出差", "剪视频"]} value={use} onChange={setUse} row />
      <Alert tone="success">推荐{best}：{use === "出差" ? "更轻，带着方便" : "内存更大，剪视频更流畅"}。</Alert>
    </Card>
  );
}
