import { Card, Checkbox, Select } from "$ui4a/ui";
import { usePersistedState } from "$ui4a/state";

const items = [
  { what: "Send the quote to Aldine", who: "Tom", by: "3 December" },
  { what: "Finish the slides", who: "Tom", by: "7 December" },
  { what: "Ask three venues", who: "Lena", by: "9 December" },
  { what: "Pay the printer's invoice", who: "Priya", by: "11 December" },
];

export default function ActionItems() {
  const [done, setDone] = usePersistedState<string[]>("done", []);
  const [who, setWho] = useState("Everybody");
  return (
    <Card title="Action items of the meeting" subtitle={"Still open: " + (items.length - done.length)}>
      <Select label="Show" options={["Everybody", "Tom", "Lena", "Priya"]} value={who} onChange={setWho} />
      {items.filter((i) => who === "Everybody" || i.who === who).map((i) => (
        <Checkbox
          key={i.what}
          label={`${i.what}, ${i.who}, by ${i.by}`}
          checked={done.includes(i.what)}
          onChange={(on) => setDone(on ? [...done, i.what] : done.filter((d) => d !== i.what))}
        />
      ))}
    </Card>
  );
}
