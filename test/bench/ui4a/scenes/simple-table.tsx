import { Table } from "$ui4a/ui";

export default function Employees() {
  return (
    <Table
      label="Employees (Sample)"
      columns={["Name", "Department", "Salary", "YoY change (%)"]}
      rows={[
        ["Ava Patel", "Engineering", 132000, 6.5],
        ["Marcus Lee", "Sales", 98000, 4.2],
        ["Sofia Ramirez", "Marketing", 105000, 3.1],
        ["Ethan Brooks", "Finance", 118500, 5],
        ["Nina Chen", "HR", 89000, 2.4],
      ]}
    />
  );
}
