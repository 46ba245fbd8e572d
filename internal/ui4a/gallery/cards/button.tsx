import { useState } from "react";
import { Bell, Plus, Trash } from "$ui4a/icons";
import { Button, Row, Stack } from "$ui4a/ui";

export default function Buttons() {
  const [count, setCount] = useState(0);
  const [on, setOn] = useState(false);
  return (
    <Stack>
      <Row>
        <Button icon={<Plus />} onClick={() => setCount(count + 1)}>
          Add one
        </Button>
        <Button tone="plain" onClick={() => setCount(0)}>
          Start again
        </Button>
        <Button tone="ghost" pressed={on} icon={<Bell />} onClick={() => setOn(!on)}>
          Remind me
        </Button>
      </Row>
      <Row>
        <Button tone="danger" size="s" onClick={() => setCount(count - 1)}>
          Remove one
        </Button>
        <Button tone="plain" size="s" icon={<Trash size={18} />} label="Empty" onClick={() => setCount(0)} />
        <Button disabled>Not now</Button>
      </Row>
      <p>There are {count}.</p>
    </Stack>
  );
}
