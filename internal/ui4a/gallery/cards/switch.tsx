import { useState } from "react";
import { Stack, Switch } from "$ui4a/ui";

export default function Settings() {
  const [wifi, setWifi] = useState(true);
  return (
    <Stack gap={1}>
      <Switch label="Wi-Fi" checked={wifi} onChange={setWifi} />
      <Switch label="Only on weekdays" hint="Saturday and Sunday stay quiet" />
      <Switch label="Flight mode" disabled />
      <p>{wifi ? "connected" : "off"}</p>
    </Stack>
  );
}
