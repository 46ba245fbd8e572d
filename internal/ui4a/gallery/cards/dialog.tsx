import { useState } from "react";
import { Button, Dialog, Row, Stack } from "$ui4a/ui";

export default function Removal() {
  const [there, setThere] = useState(true);
  return (
    <Stack>
      <p>{there ? "The photo is here." : "The photo is gone."}</p>
      <Dialog title="Remove the photo?" trigger="Remove…" tone="danger">
        {(close) => (
          <Stack>
            <p>It cannot be brought back.</p>
            <Row justify="end">
              <Button tone="plain" onClick={close}>
                Keep it
              </Button>
              <Button
                tone="danger"
                onClick={() => {
                  setThere(false);
                  close();
                }}
              >
                Remove it
              </Button>
            </Row>
          </Stack>
        )}
      </Dialog>
    </Stack>
  );
}
