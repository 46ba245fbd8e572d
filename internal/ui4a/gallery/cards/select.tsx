import { useState } from "react";
import { Select, Stack } from "$ui4a/ui";

export default function City() {
  const [city, setCity] = useState("");
  return (
    <Stack>
      <Select label="City" options={["Basel", "Bern", "Genève"]} placeholder="Choose a city" value={city} onChange={setCity} required />
      <Select label="Class" options={[{ value: "1", label: "First" }, { value: "2", label: "Second" }]} hint="second is cheaper" />
      <Select label="Seat" options={["Window", "Aisle"]} error="none is left" />
      <Select label="Meal" options={["none"]} disabled />
      <p>{city || "No city yet"}</p>
    </Stack>
  );
}
