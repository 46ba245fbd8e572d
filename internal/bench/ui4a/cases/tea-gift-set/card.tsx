import { Button, Card, Checkbox } from "$ui4a/ui";
import { sendMessage } from "$ui4a/chat";

const teas: Record<string, number> = { 龙井: 128, 铁观音: 96, 普洱: 150, 大红袍: 210, 茉莉花茶: 58 };

export default function TeaSet() {
  const [picked, setPicked] = useState<string[]>([]);
  const sum = picked.reduce((s, t) => s + teas[t], 0);
  return (
    <Card title="挑选两到四种茶" footer={<Button disabled={picked.length < 2} onClick={() => sendMessage("礼盒里放：" + picked.join("、"))}>确认礼盒</Button>}>
      {Object.entries(teas).map(([tea, price]) => (
        <Checkbox
          key={tea}
          label={`${tea} ${price}元`}
          checked={picked.includes(tea)}
          disabled={picked.length === 4 && !picked.includes(tea)}
          onChange={(on) => setPicked(on ? [...picked, tea] : picked.filter((t) => t !== tea))}
        />
      ))}
      <p>已选 {picked.length} 种，总价 {sum} 元</p>
    </Card>
  );
}
