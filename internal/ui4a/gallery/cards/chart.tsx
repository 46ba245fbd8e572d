import { Chart } from "$ui4a/charts";
import { Stack } from "$ui4a/ui";

const months = [
  { month: "Jan", rent: 900, food: 310 },
  { month: "Feb", rent: 900, food: 285 },
  { month: "Mar", rent: 920, food: 340 },
  { month: "Apr", rent: 920, food: 298 },
];
const shares = [
  { what: "Rent", eur: 920 },
  { what: "Food", eur: 298 },
  { what: "Travel", eur: 140 },
];
const days = Array.from({ length: 30 }, (_, i) => ({ day: i + 1, temp: Math.round(12 + 6 * Math.sin(i / 4)), rain: (i * 7) % 11 }));

export default function Charts() {
  return (
    <Stack gap={5}>
      <Chart label="Spending by month" kind="bar" data={months} x="month" y={["rent", "food"]} unit="€" stacked />
      <Chart label="Temperature" kind="line" data={days} x="day" y="temp" unit="°" />
      <Chart label="Rain" kind="area" data={days} x="day" y="rain" unit="mm" height={160} />
      <Chart label="Where April's money went" kind="donut" data={shares} x="what" y="eur" unit="€" />
      <Chart label="Parts of April" kind="bar" data={shares} x="what" y="eur" unit="€" horizontal height={120} />
      <Chart label="Rain by temperature" kind="scatter" data={days} x="temp" y="rain" />
      <Chart label="Parts as a pie" kind="pie" data={shares} x="what" y="eur" unit="€" height={160} />
    </Stack>
  );
}
