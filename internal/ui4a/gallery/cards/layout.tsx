import { Badge, Grid, Row, Stack } from "$ui4a/ui";

const Box = ({ children }) => <div className="rounded-md bg-surface-2 p-3 text-center">{children}</div>;

export default function Layout() {
  return (
    <Stack gap={4}>
      <Grid cols={3} min={90}>
        <Box>one</Box>
        <Box>two</Box>
        <Box>three</Box>
      </Grid>
      <Row justify="between">
        <span>left</span>
        <Badge>right</Badge>
      </Row>
      <div className="grid grid-cols-2 sm:grid-cols-4 gap-2">
        <Box>a</Box>
        <Box>b</Box>
        <Box>c</Box>
        <Box>d</Box>
      </div>
    </Stack>
  );
}
