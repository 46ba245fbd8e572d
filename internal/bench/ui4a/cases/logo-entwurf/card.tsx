import { Button, Card, Field, Grid, RadioGroup } from "$ui4a/ui";
import { sendMessage } from "$ui4a/chat";

const looks = { A: "halbe Sonne über einer Linie", B: "Tasse mit aufgehender Sonne", C: "schlichtes M in einem Kreis" };

export default function Logo() {
  const [pick, setPick] = useState("");
  const [wish, setWish] = useState("");
  const send = () => sendMessage(`Wir nehmen ${pick}. Änderungswunsch: ${wish || "keiner"}`);
  return (
    <Card title="Logo für das Café Morgenrot" footer={<Button disabled={!pick} onClick={send}>Entscheidung senden</Button>}>
      <Grid cols={3} min={90}>
        <img src="asset:entwurf-a" alt={"Entwurf A: " + looks.A} className="w-full rounded" />
        <img src="asset:entwurf-b" alt={"Entwurf B: " + looks.B} className="w-full rounded" />
        <img src="asset:entwurf-c" alt={"Entwurf C: " + looks.C} className="w-full rounded" />
      </Grid>
      <RadioGroup
        label="Welcher Entwurf soll es sein?"
        options={Object.entries(looks).map(([k, v]) => ({ value: "Entwurf " + k, label: `Entwurf ${k}: ${v}` }))}
        value={pick}
        onChange={setPick}
      />
      <Field label="Änderungswunsch" rows={2} value={wish} onChange={setWish} />
    </Card>
  );
}
