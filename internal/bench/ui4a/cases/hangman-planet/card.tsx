import { Alert, Button, Card, Grid } from "$ui4a/ui";

const word = "PLANET";
const letters = [..."ABCDEFGHIJKLMNOPQRSTUVWXYZ"];

export default function Hangman() {
  const [used, setUsed] = useState<string[]>([]);
  const left = 6 - used.filter((l) => !word.includes(l)).length;
  const won = [...word].every((l) => used.includes(l));
  const over = won || left === 0;
  return (
    <Card title="Hangman" subtitle={`Wrong guesses left: ${left}`} footer={<Button tone="plain" onClick={() => setUsed([])}>New game</Button>}>
      <p>Guess the letters of the hidden word before you run out of guesses.</p>
      <p className="text-3xl text-center tracking-wider font-mono">{[...word].map((l) => (used.includes(l) ? l : "_")).join(" ")}</p>
      <Grid cols={7} min={40} gap={1}>
        {letters.map((l) => <Button key={l} size="s" tone="plain" disabled={over || used.includes(l)} onClick={() => setUsed([...used, l])}>{l}</Button>)}
      </Grid>
      {over && <Alert tone={won ? "success" : "danger"}>{won ? "You found the word!" : `The word was ${word}.`}</Alert>}
    </Card>
  );
}
