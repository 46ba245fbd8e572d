import { Button, Card, Checkbox, Field, RadioGroup, Select } from "$ui4a/ui";
import { sendAction } from "$ui4a/chat";
import { usePersistedState } from "$ui4a/state";

export default function BugReport() {
  const [title, setTitle] = usePersistedState("title", "");
  const [platform, setPlatform] = usePersistedState("platform", "iOS");
  const [severity, setSeverity] = usePersistedState("severity", "cosmetic");
  const [steps, setSteps] = usePersistedState("steps", "");
  const [always, setAlways] = usePersistedState("always", false);
  const [tried, setTried] = useState(false);
  const file = () => {
    setTried(true);
    if (title.trim() && steps.trim()) sendAction({ name: "file-bug", reads: ["title", "platform", "severity", "steps", "always"] });
  };
  return (
    <Card title="Report a bug in the map app" footer={<Button onClick={file}>File bug</Button>}>
      <Field label="Title" required value={title} onChange={setTitle} error={tried && !title.trim() ? "A title is missing." : undefined} />
      <Select label="Platform" options={["iOS", "Android", "Web"]} value={platform} onChange={setPlatform} />
      <RadioGroup label="How bad is it?" options={["crash", "wrong", "cosmetic"]} value={severity} onChange={setSeverity} row />
      <Field label="Steps to reproduce" rows={3} required value={steps} onChange={setSteps} error={tried && !steps.trim() ? "The steps are missing." : undefined} />
      <Checkbox label="Happens every time" checked={always} onChange={setAlways} />
    </Card>
  );
}
