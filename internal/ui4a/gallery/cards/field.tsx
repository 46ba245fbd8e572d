import { useState } from "react";
import { Field, Stack } from "$ui4a/ui";

export default function Contact() {
  const [mail, setMail] = useState("ada");
  return (
    <Stack>
      <Field label="Name" placeholder="First and last" required />
      <Field label="E-mail" type="email" value={mail} onChange={setMail} error={mail.includes("@") ? "" : "An address has an @."} />
      <Field label="Day" type="date" hint="not a Sunday" />
      <Field label="Message" rows={3} />
      <Field label="Customer number" value="4711" onChange={() => {}} disabled />
    </Stack>
  );
}
