import { Button, Field, Form, Row, Select } from "$ui4a/ui";
import { sendMessage } from "$ui4a/chat";

export default function Contact() {
  return (
    <Form onSubmit={(values) => sendMessage(`Submit: ${JSON.stringify(values)}`)}>
      <h1>Contact Us</h1>
      <Field label="Name" placeholder="Your full name" required minLength={2} />
      <Field label="Email" type="email" placeholder="you@example.com" required />
      <Field label="Phone" placeholder="e.g., +1 555 123 4567" required minLength={7} maxLength={20} />
      <Select
        label="Subject"
        options={["General inquiry", "Support", "Sales", "Billing", "Feedback"]}
        placeholder="Select a subject..."
        required
      />
      <Field label="Message" rows={6} placeholder="How can we help?" required minLength={10} />
      <Row>
        <Button type="submit">Submit</Button>
        <Button tone="plain" onClick={() => sendMessage("Cancel")}>Cancel</Button>
      </Row>
    </Form>
  );
}
