import { Avatar, Row } from "$ui4a/ui";

const dot =
  "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 8 8'%3E%3Crect width='8' height='8' fill='%232f6fde'/%3E%3Ccircle cx='4' cy='4' r='2' fill='white'/%3E%3C/svg%3E";

export default function People() {
  return (
    <Row gap={3}>
      <Avatar name="Ada Lovelace" size="s" />
      <Avatar name="Grace Hopper" />
      <Avatar name="Alan Turing" size="l" />
      <Avatar name="A picture" src={dot} size="l" />
    </Row>
  );
}
