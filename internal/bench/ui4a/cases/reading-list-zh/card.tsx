import { Card, Select, Switch } from "$ui4a/ui";
import { usePersistedState } from "$ui4a/state";

const books = ["围城", "活着", "三体", "边城", "呐喊"];

export default function ReadingList() {
  const [states, setStates] = usePersistedState<Record<string, string>>("states", { 围城: "在读" });
  const [only, setOnly] = useState(false);
  const of = (b: string) => states[b] ?? "想读";
  return (
    <Card title="今年想读的五本书" subtitle={`读完 ${books.filter((b) => of(b) === "读完").length} 本`}>
      <Switch label="只看正在读的书" checked={only} onChange={setOnly} />
      {books.filter((b) => !only || of(b) === "在读").map((b) => (
        <Select key={b} label={`《${b}》`} options={["想读", "在读", "读完"]} value={of(b)} onChange={(s) => setStates({ ...states, [b]: s })} />
      ))}
    </Card>
  );
}
