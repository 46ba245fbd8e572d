import { MapPin } from "$ui4a/icons";
import { Badge, Button, Card } from "$ui4a/ui";
import { useState } from "react";

export default function Place() {
  const [saved, setSaved] = useState(false);
  return (
    <Card
      title="Café am Fluss"
      subtitle="Open until 22:00"
      icon={<MapPin className="text-accent" />}
      action={<Badge tone="success">open</Badge>}
      footer={<Button onClick={() => setSaved(!saved)}>{saved ? "Saved" : "Save"}</Button>}
    >
      <p>Cakes and soups, eight tables by the water.</p>
      <Card title="Lunch">Soup of the day with bread.</Card>
    </Card>
  );
}
