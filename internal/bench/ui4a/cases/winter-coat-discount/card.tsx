import { Card, Grid, Slider, Stat, Switch } from "$ui4a/ui";

export default function Coat() {
  const [sale, setSale] = useState(25);
  const [member, setMember] = useState(false);
  const price = 220 * (1 - sale / 100) * (member ? 0.9 : 1);
  return (
    <Card title="The winter coat" subtitle="Regular price $220">
      <Slider label="Sale" unit="%" max={70} step={5} value={sale} onChange={setSale} />
      <Switch label="Member" hint="another 10% off" checked={member} onChange={setMember} />
      <Grid cols={2}>
        <Stat label="You pay" value={"$" + price.toFixed(2)} />
        <Stat label="You save" value={"$" + (220 - price).toFixed(2)} />
      </Grid>
      <p>Why 25% and 10% are not 35%: the 10% come off the reduced price, which is smaller than the $220 that the 25% come off.</p>
    </Card>
  );
}
