import { useState } from "react";
import { Slider, Stack } from "$ui4a/ui";

export default function Loan() {
  const [sum, setSum] = useState(5000);
  const [years, setYears] = useState(4);
  return (
    <Stack>
      <Slider label="Loan" value={sum} onChange={setSum} min={1000} max={20000} step={500} unit="€" />
      <Slider label="Years" value={years} onChange={setYears} min={1} max={10} />
      <Slider label="Volume" unit="%" disabled />
      <p>{(sum / years / 12).toFixed(2)} € a month</p>
    </Stack>
  );
}
