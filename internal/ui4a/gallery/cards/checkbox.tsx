import { useState } from "react";
import { Checkbox, Stack } from "$ui4a/ui";

export default function Packing() {
  const [packed, setPacked] = useState({ tent: true, stove: false });
  return (
    <Stack gap={1}>
      <Checkbox label="Tent" checked={packed.tent} onChange={(tent) => setPacked({ ...packed, tent })} />
      <Checkbox label="Stove" hint="with gas" checked={packed.stove} onChange={(stove) => setPacked({ ...packed, stove })} />
      <Checkbox label="I have read the rules" required error="needed before you go on" />
      <Checkbox label="Boat" disabled />
      <p>packed: {[packed.tent && "tent", packed.stove && "stove"].filter(Boolean).join(", ") || "nothing"}</p>
    </Stack>
  );
}
