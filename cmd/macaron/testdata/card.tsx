import { Button, Card } from "$ui4a/ui";
import { usePersistedState } from "$ui4a/state";
import { sendAction } from "$ui4a/chat";

export default function Trip() {
  const [n, setN] = usePersistedState("guests", 2);
  return (
    <Card title="Trip">
      <p>{n} guests</p>
      <Button onClick={() => setN(n + 1)}>More</Button>
      <Button onClick={() => sendAction({ name: "book", reads: ["guests"] })}>Book</Button>
    </Card>
  );
}
