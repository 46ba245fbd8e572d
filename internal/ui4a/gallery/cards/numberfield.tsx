import { useState } from "react";
import { NumberField, Stack } from "$ui4a/ui";

export default function Order() {
  const [cups, setCups] = useState(2);
  return (
    <Stack>
      <NumberField label="Cups" value={cups} onChange={setCups} min={0} max={8} hint="at most eight" />
      <NumberField label="Weight" unit="kg" step={0.1} min={0} />
      <NumberField label="Age" error="too young" value={11} onChange={() => {}} />
      <NumberField label="Seats" disabled />
      <p>{(cups * 2.5).toFixed(2)} €</p>
    </Stack>
  );
}
