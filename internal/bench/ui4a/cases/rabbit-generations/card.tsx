import { Button, Card, Grid, Stat } from "$ui4a/ui";

export default function Rabbits() {
  const [row, setRow] = useState([1]);
  const pairs = row.at(-1)!;
  const next = () => setRow([...row, pairs + (row.at(-2) ?? 0)]);
  return (
    <Card title="Fibonacci's rabbits" subtitle={"So far: " + row.join(", ")} footer={<><Button onClick={next}>Next generation</Button><Button tone="plain" onClick={() => setRow([1])}>Back to start</Button></>}>
      <Grid>
        <Stat label="Generation" value={row.length} />
        <Stat label="Pairs in the field" value={pairs} />
      </Grid>
    </Card>
  );
}
