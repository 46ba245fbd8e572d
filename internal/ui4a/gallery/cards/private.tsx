import { useState } from "react";
import { PrivateField } from "$ui4a/state";
import { Badge, Stack } from "$ui4a/ui";

export default function Payment() {
  const [filled, setFilled] = useState(false);
  return (
    <Stack>
      <PrivateField name="card-number" label="Card number" placeholder="16 digits" onFilled={setFilled} />
      <Badge tone={filled ? "success" : "plain"}>{filled ? "filled in" : "still empty"}</Badge>
    </Stack>
  );
}
