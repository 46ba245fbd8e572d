import { Alert, Button, Card, RadioGroup, Stack } from "$ui4a/ui";

const saetze = [
  { satz: "Lena … nach Hause gefahren.", wort: "ist" },
  { satz: "Omar … die Suppe gekocht.", wort: "hat" },
  { satz: "Der Zug … angekommen.", wort: "ist" },
  { satz: "Mia … gut geschlafen.", wort: "hat" },
];

export default function Perfekt() {
  const [wahl, setWahl] = useState<Record<string, string>>({});
  const [geprueft, setGeprueft] = useState(false);
  const richtig = saetze.filter((s) => wahl[s.satz] === s.wort).length;
  return (
    <Card title="Haben oder sein?" subtitle="Wähle für jede Lücke das richtige Wort" footer={<Button onClick={() => setGeprueft(true)}>Prüfen</Button>}>
      <Stack>
        {saetze.map(({ satz, wort }) => (
          <RadioGroup key={satz} label={satz} options={["hat", "ist"]} value={wahl[satz] ?? ""} onChange={(w) => { setWahl({ ...wahl, [satz]: w }); setGeprueft(false); }}
            error={geprueft && wahl[satz] !== wort ? `Richtig wäre: ${wort}` : ""} row />
        ))}
      </Stack>
      {geprueft && <Alert tone={richtig === 4 ? "success" : "warn"}>{richtig} von 4 sind richtig.</Alert>}
    </Card>
  );
}
