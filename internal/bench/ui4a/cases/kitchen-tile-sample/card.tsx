import { Button, Card, NumberField, RadioGroup } from "$ui4a/ui";
import { sendMessage } from "$ui4a/chat";

export default function KitchenTile() {
  const [tile, setTile] = useState("");
  const [count, setCount] = useState(1);
  return (
    <Card
      title="Which tile for the kitchen?"
      footer={<Button disabled={!tile} onClick={() => sendMessage(`Order ${count} samples of the tile ${tile}`)}>Order samples</Button>}
    >
      <div className="grid grid-cols-2 gap-3">
        <img src="asset:moss" alt="Moss: glossy dark green tile" className="w-full rounded" />
        <img src="asset:chalk" alt="Chalk: matt white tile with grey specks" className="w-full rounded" />
      </div>
      <RadioGroup label="Tile" options={["Moss", "Chalk"]} value={tile} onChange={setTile} row />
      <NumberField label="Number of samples" min={1} max={3} step={1} value={count} onChange={setCount} hint={`£2 each, £${2 * count} in all`} />
    </Card>
  );
}
