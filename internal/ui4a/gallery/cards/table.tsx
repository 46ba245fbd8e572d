import { Badge, Stack, Table } from "$ui4a/ui";

const rows = [
  { id: 1, train: "IC 61", leaves: "08:04", minutes: 56, price: 41.5, late: false },
  { id: 2, train: "IR 17", leaves: "08:31", minutes: 72, price: 29, late: true },
  { id: 3, train: "S 3", leaves: "08:40", minutes: 95, price: 24.5, late: false },
];

export default function Trains() {
  return (
    <Stack gap={5}>
      <Table
        label="Trains to Bern"
        rows={rows}
        sort
        columns={[
          { key: "train", label: "Train" },
          { key: "leaves", label: "Leaves" },
          { key: "minutes", label: "Minutes" },
          { key: "price", label: "Price", render: (v) => `${v.toFixed(2)} €` },
          { key: "late", label: "State", render: (late) => <Badge tone={late ? "warn" : "success"}>{late ? "late" : "on time"}</Badge> },
        ]}
      />
      <Table label="All fields" rows={rows} />
    </Stack>
  );
}
