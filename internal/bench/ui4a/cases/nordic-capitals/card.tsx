import { Card, Field, Table } from "$ui4a/ui";

const cities = [
  { city: "Stockholm", country: "Sweden", people: 975, founded: "1252" },
  { city: "Copenhagen", country: "Denmark", people: 660, founded: "1167" },
  { city: "Oslo", country: "Norway", people: 717, founded: "1040" },
  { city: "Helsinki", country: "Finland", people: 658, founded: "1550" },
  { city: "Reykjavik", country: "Iceland", people: 140, founded: "1786" },
];

export default function Capitals() {
  const [search, setSearch] = useState("");
  const rows = cities.filter((c) => `${c.city} ${c.country}`.toLowerCase().includes(search.toLowerCase()));
  return (
    <Card title="Nordic capitals">
      <Field label="Search by city or country" type="search" value={search} onChange={setSearch} />
      <p>{rows.length} rows are shown.</p>
      <Table
        label="Capitals"
        sort
        rows={rows}
        columns={[{ key: "city", label: "City" }, { key: "country", label: "Country" }, { key: "people", label: "Thousands" }, { key: "founded", label: "Founded" }]}
      />
    </Card>
  );
}
