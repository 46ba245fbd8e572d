import { Badge, Button, Card, Grid, RadioGroup, Row, Select, Stack, Table } from "$ui4a/ui";
import { sendAction } from "$ui4a/chat";
import { Check } from "$ui4a/icons";
import { usePersistedState } from "$ui4a/state";

const images = [
  { name: "side", alt: "Sneakers angled side view", details: "Side profile showing breathable mesh and cushioned midsole" },
  { name: "top", alt: "Sneakers top view", details: "Top view highlighting laces and padded tongue" },
  { name: "outsole", alt: "Sneakers outsole view", details: "Rubber outsole pattern for traction" },
  { name: "lifestyle", alt: "Sneakers lifestyle shot", details: "Everyday styling in an urban setting" },
];

const colors = [
  "Black / White: Classic contrast with white midsole",
  "Sand / Gum: Neutral upper with gum outsole",
  "Slate / Neon: Cool tones with neon accents",
];

export default function Product() {
  const [size, setSize] = usePersistedState("size", "");
  const [color, setColor] = usePersistedState("color", colors[0]);
  return (
    <Stack>
      <h1>Product Details</h1>
      <Grid>
        <Card title="AeroStride Runner Sneakers" subtitle="Lightweight daily trainers with responsive cushioning">
          <Grid>
            {images.map((i) => (
              <figure key={i.name}>
                <img src={`asset:${i.name}`} alt={i.alt} />
                <figcaption>{i.details}</figcaption>
              </figure>
            ))}
          </Grid>
        </Card>
        <Card title="AeroStride Runner" subtitle="Men's / Women's • Road & casual">
          <Row justify="between">
            <strong className="text-2xl">$129.00</strong>
            <Badge tone="success"><Check size={16} /> In stock</Badge>
          </Row>
          <hr />
          <Select
            label="Size"
            options={["US 7", "US 7.5", "US 8", "US 8.5", "US 9", "US 9.5", "US 10", "US 10.5", "US 11", "US 12"]}
            placeholder="Select your size..."
            required
            value={size}
            onChange={setSize}
          />
          <hr />
          <RadioGroup
            label="Color"
            options={colors}
            required
            value={color}
            onChange={setColor}
          />
          <hr />
          <Row>
            <Button disabled={!size} onClick={() => sendAction({ name: "add_to_cart", reads: ["size", "color"] })}>Add to Cart</Button>
            <Button tone="plain" onClick={() => sendAction({ name: "save", reads: ["size", "color"] })}>Save</Button>
          </Row>
          <p className="text-sm">Free returns within 30 days. Ships in 1–2 business days.</p>
        </Card>
      </Grid>
      <Grid>
        <Card title="About this item" subtitle="Built for comfort from morning commutes to weekend miles">
          <p>
            The <b>AeroStride Runner</b> blends breathable mesh with a supportive heel counter for a secure fit. A responsive foam
            midsole delivers soft landings and quick transitions, while the durable rubber outsole adds traction on city streets.
          </p>
          <p>
            <b>Fit note:</b> True to size. If you’re between sizes, consider going up 0.5.
          </p>
          <Row>
            <Badge>Breathable mesh upper</Badge>
            <Badge>Responsive foam cushioning</Badge>
            <Badge>Rubber traction outsole</Badge>
            <Badge>Padded collar & tongue</Badge>
            <Badge>Everyday training</Badge>
          </Row>
        </Card>
        <Card title="Specs" subtitle="Materials, weight, and care">
          <Table
            label="Specs"
            columns={["Detail", "Value"]}
            rows={[
              ["Weight", "9.8 oz (US 9)"],
              ["Drop", "8 mm"],
              ["Upper", "Engineered mesh"],
              ["Midsole", "EVA-based foam"],
              ["Outsole", "High-abrasion rubber"],
              ["Care", "Spot clean; air dry"],
            ]}
          />
        </Card>
      </Grid>
    </Stack>
  );
}
