import { Alert, Button, Card, Disclosure, RadioGroup } from "$ui4a/ui";

const clues = { 厨师老魏: "他说自己整晚都在睡觉。", 乘客白小姐: "她的包里有面包屑。", 列车员小丁: "他的口袋里闪着银光。" };

export default function NightTrain() {
  const [who, setWho] = useState("");
  const [said, setSaid] = useState("");
  const accuse = () => setSaid(!who ? "请先选一个人。" : who === "列车员小丁" ? "你猜对了，银勺就在小丁的口袋里！" : "不对，再看看线索吧。");
  return (
    <Card title="夜班火车上的银勺" subtitle="餐车的银勺不见了，是谁拿的？" footer={<Button onClick={accuse}>指认</Button>}>
      {Object.entries(clues).map(([name, clue]) => <Disclosure key={name} label={name + "的线索"}><p>{clue}</p></Disclosure>)}
      <RadioGroup label="你怀疑谁？" options={Object.keys(clues)} value={who} onChange={(w) => { setWho(w); setSaid(""); }} />
      {said && <Alert>{said}</Alert>}
    </Card>
  );
}
