import { Alert, Card, Checkbox } from "$ui4a/ui";
import { usePersistedState } from "$ui4a/state";

const must = ["水", "懐中電灯", "薬"];
const nice = ["毛布", "ラジオ", "カイロ"];

export default function Bosai() {
  const [ready, setReady] = usePersistedState<string[]>("ready", []);
  const box = (t: string) => (
    <Checkbox key={t} label={t} checked={ready.includes(t)} onChange={(on) => setReady(on ? [...ready, t] : ready.filter((r) => r !== t))} />
  );
  return (
    <Card title="防災リュックのチェックリスト" subtitle="用意できたものに印をつけてください。">
      <h3 className="font-semibold">必ず入れる</h3>
      {must.map(box)}
      <h3 className="font-semibold">できれば入れる</h3>
      {nice.map(box)}
      {must.every((t) => ready.includes(t)) && <Alert tone="success">準備完了</Alert>}
    </Card>
  );
}
