import { Alert, Card, Grid } from "$ui4a/ui";
import { Chart } from "$ui4a/charts";

export default function Revenue() {
  return (
    <>
      <h1>Revenue Dashboard</h1>
      <Grid>
        <Card title="Total Revenue" subtitle="Last 6 months">
          <strong className="text-2xl">$1,284,000</strong>
          <Alert tone="success" title="Up 8.4%">Compared to the previous 6 months</Alert>
        </Card>
        <Card title="Monthly Revenue" subtitle="Last 6 months">
          <Chart
            label="Revenue (USD) by month"
            kind="bar"
            x={["Oct", "Nov", "Dec", "Jan", "Feb", "Mar"]}
            y={{ Revenue: [198000, 205000, 214000, 210000, 223000, 234000] }}
          />
        </Card>
      </Grid>
    </>
  );
}
