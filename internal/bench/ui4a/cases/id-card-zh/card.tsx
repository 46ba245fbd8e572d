import { Button, Card, RadioGroup } from "$ui4a/ui";
import { Ticket } from "$ui4a/icons";
import { sendAction } from "$ui4a/chat";
import { PrivateField, usePersistedState } from "$ui4a/state";

export default function Museum() {
  const [slot, setSlot] = usePersistedState("slot", "11:00");
  const [filled, setFilled] = useState(false);
  const book = () => sendAction({ name: "book", reads: ["slot", "id"] });
  return (
    <Card title="博物馆周日免费门票" icon={<Ticket />} footer={<Button onClick={book} disabled={!filled}>预约</Button>}>
      <PrivateField name="id" label="身份证号" onFilled={setFilled} />
      <p className="text-muted">号码只交给博物馆，助手看不到。</p>
      <RadioGroup label="请选择入场时段" options={["9:00", "11:00", "14:00"]} value={slot} onChange={setSlot} row />
    </Card>
  );
}
