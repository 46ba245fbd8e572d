import { Button, Card, Field, Grid, Switch } from "$ui4a/ui";
import { sendAction } from "$ui4a/chat";
import { usePersistedState } from "$ui4a/state";

export default function Notifications() {
  const [comments, setComments] = usePersistedState("comments", true);
  const [mentions, setMentions] = usePersistedState("mentions", true);
  const [digest, setDigest] = usePersistedState("digest", false);
  const [paused, setPaused] = usePersistedState("paused", false);
  const [from, setFrom] = usePersistedState("quiet-from", "22:00");
  const [to, setTo] = usePersistedState("quiet-to", "07:00");
  const save = () => sendAction({ name: "save-settings", reads: ["comments", "mentions", "digest", "paused", "quiet-from", "quiet-to"] });
  return (
    <Card title="What you are notified about" footer={<Button onClick={save}>Save settings</Button>}>
      <Switch label="Pause everything" checked={paused} onChange={setPaused} />
      <Switch label="New comments" checked={comments} onChange={setComments} disabled={paused} />
      <Switch label="Mentions" checked={mentions} onChange={setMentions} disabled={paused} />
      <Switch label="Weekly digest" checked={digest} onChange={setDigest} disabled={paused} />
      <p>Quiet hours, 22:00 to 07:00 unless you change them:</p>
      <Grid cols={2}>
        <Field label="From" type="time" value={from} onChange={setFrom} />
        <Field label="To" type="time" value={to} onChange={setTo} />
      </Grid>
    </Card>
  );
}
