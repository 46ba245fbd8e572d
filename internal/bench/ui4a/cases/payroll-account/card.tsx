import { Button, Card, Checkbox, RadioGroup } from "$ui4a/ui";
import { Landmark } from "$ui4a/icons";
import { sendAction } from "$ui4a/chat";
import { PrivateField, usePersistedState } from "$ui4a/state";

export default function Payroll() {
  const [month, setMonth] = usePersistedState("month", "January 2027");
  const [holder, setHolder] = useState(false);
  const [code, setCode] = useState(false);
  const [number, setNumber] = useState(false);
  const change = () => sendAction({ name: "change-account", reads: ["month", "sort-code", "account-number"] });
  return (
    <Card title="Account for your wages" icon={<Landmark />} footer={<Button onClick={change} disabled={!holder || !code || !number}>Change account</Button>}>
      <PrivateField name="sort-code" label="Sort code" onFilled={setCode} />
      <PrivateField name="account-number" label="Account number" onFilled={setNumber} />
      <p className="text-muted">Both go to payroll only; the assistant does not see them.</p>
      <RadioGroup label="First month" options={["January 2027", "February 2027"]} value={month} onChange={setMonth} row />
      <Checkbox label="I am the account holder" checked={holder} onChange={setHolder} />
    </Card>
  );
}
