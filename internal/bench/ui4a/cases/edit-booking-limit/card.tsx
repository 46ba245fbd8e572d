import { Button, Card, Field, NumberField, Stat } from "$ui4a/ui";
import { sendMessage } from "$ui4a/chat";

export default function Workshop() {
  const [places, setPlaces] = useState(1);
  const [name, setName] = useState("");
  const clear = () => { setPlaces(1); setName(""); };
  return (
    <Card title="Pottery workshop" footer={<><Button onClick={() => sendMessage(name + " books " + places)}>Book places</Button><Button tone="plain" onClick={clear}>Clear</Button></>}>
      <p>Everything that you need is there, just bring an old shirt.</p>
      <Field label="Your name" value={name} onChange={setName} />
      <NumberField label="Places" hint="At most 4 for each person" min={1} max={4} value={places} onChange={setPlaces} />
      <Stat label="Price" value={"$" + places * 18} />
    </Card>
  );
}
