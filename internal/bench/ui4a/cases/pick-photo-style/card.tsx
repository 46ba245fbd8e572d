import { useState } from "react";
import { Button, Card, RadioGroup } from "$ui4a/ui";
import { sendMessage } from "$ui4a/chat";

export default function PickLook() {
  const [look, setLook] = useState("");
  const [done, setDone] = useState(false);
  const confirm = () => { sendMessage("Use the look " + look); setDone(true); };
  return (
    <Card title="A look for your balcony" footer={<Button onClick={confirm} disabled={!look || done}>{done ? "Confirmed" : "Confirm"}</Button>}>
      <img src="asset:balcony" alt="Your balcony with two red flower boxes and a chair" className="w-full rounded" />
      <RadioGroup label="Look" options={["Watercolor", "Film noir", "Pixel art"]} value={look} onChange={setLook} />
      <p className="text-muted" aria-live="polite">{look ? "You picked: " + look : "Nothing picked yet."}</p>
    </Card>
  );
}
