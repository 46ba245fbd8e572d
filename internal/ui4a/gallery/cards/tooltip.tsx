import { Info } from "$ui4a/icons";
import { Button, Row, Tooltip } from "$ui4a/ui";
import { useState } from "react";

export default function Explained() {
  const [times, setTimes] = useState(0);
  return (
    <Row gap={4}>
      <Tooltip text="Adds it to the list of this week">
        <Button onClick={() => setTimes(times + 1)}>Add ({times})</Button>
      </Tooltip>
      <p>
        An <Tooltip text="Annual percentage rate">APR</Tooltip> of 4 %
      </p>
      <Tooltip text="Prices of 30 November">
        <Button tone="ghost" size="s" label="About the prices" icon={<Info />} onClick={() => setTimes(0)} />
      </Tooltip>
    </Row>
  );
}
