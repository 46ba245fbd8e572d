import { useState } from "react";
import { RadioGroup, Stack } from "$ui4a/ui";

export default function Choice() {
  const [size, setSize] = useState("M");
  return (
    <Stack>
      <RadioGroup label="Size" options={["S", "M", "L"]} value={size} onChange={setSize} row />
      <RadioGroup
        label="Delivery"
        options={[
          { value: "post", label: "By post, three days" },
          { value: "shop", label: "From the shop, tomorrow" },
        ]}
        hint="both are free"
      />
      <RadioGroup label="Colour" options={["red", "blue"]} disabled />
      <p>Size {size}</p>
    </Stack>
  );
}
