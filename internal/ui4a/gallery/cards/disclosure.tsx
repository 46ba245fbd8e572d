import { Disclosure, Stack } from "$ui4a/ui";

export default function Questions() {
  return (
    <Stack gap={2}>
      <Disclosure label="When does it arrive?" open>
        Within three days.
      </Disclosure>
      <Disclosure label="Can I send it back?">Yes, for thirty days.</Disclosure>
    </Stack>
  );
}
