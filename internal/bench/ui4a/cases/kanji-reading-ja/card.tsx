import { Badge, Card, RadioGroup } from "$ui4a/ui";

const items = [
  { word: "今朝", answer: "けさ", readings: ["こんちょう", "けさ", "いまあさ"] },
  { word: "土産", answer: "みやげ", readings: ["どさん", "みやげ", "つちうみ"] },
];

export default function Kanji() {
  const [picked, setPicked] = useState<Record<string, string>>({});
  return (
    <Card title="漢字の読み方クイズ" subtitle="正しいと思う読みを選んでください">
      {items.map(({ word, answer, readings }) => (
        <div key={word} className="space-y-2">
          <RadioGroup label={`「${word}」の読み方は？`} options={readings} value={picked[word] ?? ""} onChange={(r) => setPicked({ ...picked, [word]: r })} row />
          <div aria-live="polite">{picked[word] && <Badge tone={picked[word] === answer ? "success" : "danger"}>{picked[word] === answer ? "正解" : "不正解"}</Badge>}</div>
        </div>
      ))}
    </Card>
  );
}
