import { Button, Card, NumberField, RadioGroup, Stat } from "$ui4a/ui";
import { sendAction } from "$ui4a/chat";
import { PrivateField, usePersistedState } from "$ui4a/state";

export default function Juminhyo() {
  const [copies, setCopies] = usePersistedState("copies", 1);
  const [way, setWay] = usePersistedState("way", "窓口");
  const [filled, setFilled] = useState(false);
  const [said, setSaid] = useState("");
  const send = () => {
    if (!filled) return setSaid("マイナンバーを入力してください。");
    sendAction({ name: "apply", reads: ["copies", "way", "number"] });
    setSaid("申し込みを送りました。");
  };
  return (
    <Card title="住民票の写しの申し込み" footer={<><Button onClick={send}>申し込む</Button><span role="status">{said}</span></>}>
      <NumberField label="通数" min={1} max={5} value={copies} onChange={setCopies} />
      <PrivateField name="number" label="マイナンバー" onFilled={setFilled} />
      <p className="text-muted">番号は役所だけに送られ、アシスタントには見えません。</p>
      <RadioGroup label="受け取り方" options={["窓口", "郵送"]} value={way} onChange={setWay} row />
      <Stat label="手数料の合計（1通300円）" value={copies * 300} unit="円" />
    </Card>
  );
}
