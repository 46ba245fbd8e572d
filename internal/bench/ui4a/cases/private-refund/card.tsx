import { useState } from "react";
import { Alert, Button, Card, RadioGroup } from "$ui4a/ui";
import { sendAction } from "$ui4a/chat";
import { PrivateField, usePersistedState } from "$ui4a/state";

export default function Refund() {
  const [reason, setReason] = usePersistedState("reason", "Broken");
  const [order] = usePersistedState("order", "7731");
  const [filled, setFilled] = useState(false);
  const [said, setSaid] = useState("");
  const send = () => {
    if (!filled) return setSaid("Please enter your IBAN first.");
    sendAction({ name: "refund", reads: ["order", "reason", "iban"] });
    setSaid("Your request is sent.");
  };
  return (
    <Card title={"Refund for order " + order} subtitle="Lamp, 49.90 €, arrived broken on 24 November 2026" footer={<Button onClick={send}>Send request</Button>}>
      <RadioGroup label="Reason" options={["Broken", "Wrong item", "Changed my mind"]} value={reason} onChange={setReason} />
      <PrivateField name="iban" label="IBAN" onFilled={setFilled} />
      <p className="text-muted">The IBAN goes to the shop only; the assistant does not see it.</p>
      {said && <Alert>{said}</Alert>}
    </Card>
  );
}
