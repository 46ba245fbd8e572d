import { useState } from "react";
import { Field, Stack, Tab, Tabs } from "$ui4a/ui";

export default function Recipe() {
  const [open, setOpen] = useState("Steps");
  return (
    <Stack gap={5}>
      <Tabs label="Pancakes">
        <Tab label="Needs">
          <ul>
            <li>200 g of flour</li>
            <li>3 eggs</li>
          </ul>
        </Tab>
        <Tab label="Steps">Mix, wait, bake.</Tab>
        <Tab label="Notes">
          <Field label="Your note" rows={2} />
        </Tab>
      </Tabs>
      <Tabs label="Waffles" value={open} onChange={setOpen}>
        <Tab label="Needs">An iron.</Tab>
        <Tab label="Steps">Heat it first.</Tab>
      </Tabs>
    </Stack>
  );
}
