import { Flame } from "$ui4a/icons";
import { Card, Grid, Stat } from "$ui4a/ui";

export default function Week() {
  return (
    <Card title="This week">
      <Grid cols={3} min={90}>
        <Stat label="Steps" value={48210} delta={3200} />
        <Stat label="Energy" value="1,930" unit="kcal" icon={<Flame size={16} />} delta="-4 %" />
        <Stat label="Sleep" value="7:12" delta="as last week" />
      </Grid>
    </Card>
  );
}
