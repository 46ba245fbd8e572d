import { Badge, Row } from "$ui4a/ui";

export default function States() {
  return (
    <Row>
      <Badge>draft</Badge>
      <Badge tone="accent">new</Badge>
      <Badge tone="success">paid</Badge>
      <Badge tone="warn">due soon</Badge>
      <Badge tone="danger">overdue</Badge>
    </Row>
  );
}
