import { Button, Card, Field, RadioGroup, Row } from "$ui4a/ui";
import { sendMessage } from "$ui4a/chat";

export default function LostSuitcase() {
  const [step, setStep] = useState(1);
  const [colour, setColour] = useState("");
  const [kind, setKind] = useState("hard shell");
  const [marks, setMarks] = useState("");
  const [place, setPlace] = useState("Hotel Lindenhof");
  const send = () => sendMessage(`Suitcase missing from flight TP 572: ${colour}, ${kind}, recognised by ${marks}. Bring it to: ${place}.`);
  return (
    <Card
      title="Suitcase missing from flight TP 572"
      subtitle={step === 1 ? "Step 1 of 2: the bag" : "Step 2 of 2: where to bring it"}
      footer={
        step === 1 ? (
          <Button onClick={() => setStep(2)}>Next</Button>
        ) : (
          <Row>
            <Button tone="plain" onClick={() => setStep(1)}>Back</Button>
            <Button onClick={send}>Send report</Button>
          </Row>
        )
      }
    >
      {step === 1 ? (
        <>
          <Field label="Colour" value={colour} onChange={setColour} />
          <RadioGroup label="Kind" options={["hard shell", "soft"]} value={kind} onChange={setKind} row />
          <Field label="What makes it easy to recognise" value={marks} onChange={setMarks} />
        </>
      ) : (
        <RadioGroup label="Bring it to" options={["Hotel Lindenhof", "My home"]} value={place} onChange={setPlace} />
      )}
    </Card>
  );
}
