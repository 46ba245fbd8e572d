import { Button, Card, RadioGroup, Switch } from "$ui4a/ui";
import { sendMessage } from "$ui4a/chat";

export default function Redelivery() {
  const [day, setDay] = useState("");
  const [time, setTime] = useState("");
  const [drop, setDrop] = useState(false);
  const send = () => sendMessage(`${day}の${time}に再配達をお願いします。${drop ? "置き配でかまいません。" : "手渡しでお願いします。"}`);
  return (
    <Card title="再配達の申し込み" subtitle="伝票番号 4827-1135-9906" footer={<Button disabled={!day || !time} onClick={send}>申し込む</Button>}>
      <RadioGroup label="希望日" options={["12月3日", "12月4日"]} value={day} onChange={setDay} row />
      <RadioGroup label="時間帯" options={["午前中", "14時から16時", "19時から21時"]} value={time} onChange={setTime} />
      <Switch label="置き配でもよい" checked={drop} onChange={setDrop} />
    </Card>
  );
}
