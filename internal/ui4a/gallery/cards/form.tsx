import { useState } from "react";
import { Button, Checkbox, Field, Form, NumberField, Row, Stack } from "$ui4a/ui";

export default function Order() {
  const [sent, setSent] = useState("");
  return (
    <Stack>
      <Form onSubmit={(values) => setSent(JSON.stringify(values))}>
        <Field label="Name" required minLength={2} maxLength={20} />
        <NumberField label="Cups" min={1} max={8} />
        <Checkbox label="With milk" />
        <Row>
          <Button type="submit">Order</Button>
          <Button type="reset" tone="plain">
            Clear
          </Button>
        </Row>
      </Form>
      <p>{sent || "Nothing is ordered."}</p>
    </Stack>
  );
}
