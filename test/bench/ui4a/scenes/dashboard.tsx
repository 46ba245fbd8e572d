import { Card, Grid, Stack, Stat, Table } from "$ui4a/ui";
import { Chart } from "$ui4a/charts";

const months = ["Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec", "Jan", "Feb", "Mar"];
const users = [84500, 87200, 90100, 93800, 96500, 100200, 104800, 109600, 114300, 119900, 123700, 128400];
const mrr = [332000, 341000, 349000, 356000, 364000, 372000, 381000, 389000, 397000, 404000, 408000, 412000];

export default function Analytics() {
  return (
    <Stack>
      <Card title="Product Analytics Dashboard" subtitle="Usage, acquisition, feature adoption, and revenue trends" />
      <Grid cols={4}>
        <Card>
          <Stat label="Monthly Active Users (MAU)" value="128,400" delta="+6.2% vs last month" />
        </Card>
        <Card>
          <Stat label="New Users (30d)" value="24,950" delta="+3.1% vs last 30d" />
        </Card>
        <Card>
          <Stat label="MRR" value="$412,000" delta="+4.4% MoM" />
        </Card>
        <Card>
          <Stat label="ARR" value="$4.94M" delta="+18.7% YoY" />
        </Card>
      </Grid>
      <Grid>
        <Card title="Monthly Active Users" subtitle="Last 12 months">
          <Chart label="Users by month" kind="bar" x={months} y={{ MAU: users }} />
        </Card>
        <Card title="User Acquisition" subtitle="Share of new users (last 30 days)">
          <Chart
            label="Acquisition"
            kind="donut"
            x={["Organic Search", "Paid Search", "Referrals", "Social", "Direct / Other"]}
            y={[34, 22, 16, 12, 16]}
          />
          <p className="text-sm">Tip: Track CAC and conversion rate by channel to explain mix shifts.</p>
        </Card>
      </Grid>
      <Card title="Top Features" subtitle="Adoption and engagement (last 30 days)">
        <Table
          label="Features"
          columns={["Feature", "Weekly Active Users", "Adoption Rate (%)", "Avg. Uses / User"]}
          rows={[
            ["Dashboards", 48200, 62.5, 5.8],
            ["Automations", 31750, 41.2, 3.1],
            ["Integrations", 28900, 37.5, 2.4],
            ["Team Collaboration", 27100, 35.2, 4.6],
            ["Exports", 19850, 25.8, 1.7],
            ["Alerts", 17600, 22.9, 2],
            ["API Access", 12150, 15.8, 6.3],
          ]}
        />
      </Card>
      <Card title="Revenue Trend" subtitle="MRR and ARR (last 12 months)">
        <Chart label="USD by month" kind="line" x={months} y={{ "MRR ($)": mrr, "ARR ($)": mrr.map((m) => 12 * m) }} />
        <p className="text-sm">
          ARR shown as 12×MRR for directional tracking; replace with contracted ARR if you track annual commitments.
        </p>
      </Card>
    </Stack>
  );
}
