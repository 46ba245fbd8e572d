import { Alert, Stack } from "$ui4a/ui";

export default function Alerts() {
  return (
    <Stack>
      <Alert title="The library closes at 18:00 today">Books can be returned at the door.</Alert>
      <Alert tone="success">Your seat is reserved.</Alert>
      <Alert tone="warn" title="Two days left">The offer ends on Friday.</Alert>
      <Alert tone="danger" title="Not sent">The address has no @.</Alert>
    </Stack>
  );
}
