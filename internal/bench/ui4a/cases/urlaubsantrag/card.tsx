import { Alert, Button, Card, Field, Grid, Select, Stat } from "$ui4a/ui";
import { sendMessage } from "$ui4a/chat";

const deutsch = (tag: string) => tag.split("-").reverse().join(".");

export default function Urlaubsantrag() {
  const [von, setVon] = useState("2027-01-04");
  const [bis, setBis] = useState("2027-01-08");
  const [wer, setWer] = useState("");
  const [text, setText] = useState("");
  const tage = Math.round((Date.parse(bis) - Date.parse(von)) / 86400000) + 1;
  const gut = tage >= 1 && wer !== "";
  const stellen = () => sendMessage(`Urlaubsantrag vom ${deutsch(von)} bis ${deutsch(bis)}, Vertretung ${wer}. ${text}`);
  return (
    <Card title="Urlaubsantrag" subtitle="Beide Tage werden mitgezählt. Ohne Vertretung kann der Antrag nicht gestellt werden." footer={<Button disabled={!gut} onClick={stellen}>Antrag stellen</Button>}>
      <Grid cols={2}>
        <Field label="Erster Tag" type="date" value={von} onChange={setVon} />
        <Field label="Letzter Tag" type="date" value={bis} onChange={setBis} />
      </Grid>
      {tage >= 1 ? <Stat label={`Kalendertage vom ${deutsch(von)} bis zum ${deutsch(bis)}`} value={tage} /> : <Alert tone="danger">Der letzte Tag liegt vor dem ersten.</Alert>}
      <Select label="Vertretung" options={["Jonas", "Aylin", "Petra"]} placeholder="Bitte wählen" value={wer} onChange={setWer} />
      <Field label="Bemerkung" rows={2} value={text} onChange={setText} />
    </Card>
  );
}
