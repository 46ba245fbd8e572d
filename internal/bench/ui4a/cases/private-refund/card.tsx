import { useState } from "react";
import { Alert, Button, Card, PrivateField, RadioGroup } from "$ui4a/ui";
import { sendAction, sendMessage } from "$ui4a/chat";
import { usePersistedState, usePrivateState } from "$ui4a/state";

export default function Refund() {
  const [reason, setReason] = usePersistedState("reason", "Broken");
  const [iban, setIban] = usePrivateState("iban", "");
  const [said, setSaid] = useState("");
  const send = () => {
    if (!iban.trim()) return setSaid("Please enter your IBAN first.");
    sendAction("refund 7731", ["reason", "iban"]);
    setSaid("Your request for order 7731 is sent.");
  };
  return (
    <Card title="Refund for order 7731" subtitle="Lamp, 49.90 €, arrived on 24 November 2026" footer={<Button onClick={send}>Send request</Button>}>
      <RadioGroup label="Reason" options={["Broken", "Wrong item", "Changed my mind"]} value={reason} onChange={setReason} />
      <PrivateField label="IBAN" hint="For the shop only. The assistant does not see it." value={iban} onChange={setIban} />
      {said && <Alert>{said}</Alert>}
    </Card>
  );
}
