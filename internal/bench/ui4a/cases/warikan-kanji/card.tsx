import { Card, Grid, NumberField, Stat } from "$ui4a/ui";

export default function Warikan() {
  const [total, setTotal] = useState(23760);
  const [people, setPeople] = useState(6);
  const each = Math.ceil(total / people / 100) * 100;
  return (
    <Card title="忘年会の割り勘" subtitle="幹事以外は100円単位で切り上げます。">
      <Grid cols={2}>
        <NumberField label="合計金額" unit="円" min={0} step={100} value={total} onChange={setTotal} />
        <NumberField label="人数" unit="人" min={2} max={50} value={people} onChange={setPeople} />
      </Grid>
      <Grid cols={2}>
        <Stat label="一人分" value={each} unit="円" />
        <Stat label="幹事の支払い" value={total - each * (people - 1)} unit="円" />
      </Grid>
    </Card>
  );
}
