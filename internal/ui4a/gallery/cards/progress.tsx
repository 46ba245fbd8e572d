import { Progress, Stack } from "$ui4a/ui";

export default function Goals() {
  return (
    <Stack>
      <Progress label="Saved" value={420} max={1000} />
      <Progress label="Steps today" value={100} tone="success" />
      <Progress label="Disk" value={82} tone="warn" />
      <Progress label="Battery" value={6} tone="danger" />
    </Stack>
  );
}
