import { Button, Card, Field, Row } from "$ui4a/ui";
import { sendMessage } from "$ui4a/chat";

const old = { street: "18 Mill Road", postcode: "CB7 4AF", town: "Ely" };

export default function DeliveryAddress() {
  const [to, setTo] = useState({ ...old, street: "7 Quay Lane" });
  const change = () => sendMessage(`Change the address of order 55210 to ${to.street}, ${to.postcode}, ${to.town}`);
  return (
    <Card
      title="Delivery address of order 55210"
      subtitle={`Now: ${old.street}, ${old.postcode}, ${old.town}`}
      footer={
        <Row>
          <Button onClick={change}>Change address</Button>
          <Button tone="plain" onClick={() => setTo(old)}>Undo</Button>
        </Row>
      }
    >
      <Field label="Street" value={to.street} onChange={(street) => setTo({ ...to, street })} />
      <Field label="Postcode" value={to.postcode} onChange={(postcode) => setTo({ ...to, postcode })} />
      <Field label="Town" value={to.town} onChange={(town) => setTo({ ...to, town })} />
    </Card>
  );
}
