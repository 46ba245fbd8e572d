import { Alert, Badge, Button, Card, Disclosure, Grid, Row, Stack, Table } from "$ui4a/ui";
import { sendMessage } from "$ui4a/chat";

const Price = ({ children }) => <strong className="text-2xl">{children}</strong>;

const Features = ({ title, items }) => (
  <>
    <b>{title}</b>
    <ul>
      {items.map((item) => (
        <li key={item}>{item}</li>
      ))}
    </ul>
  </>
);

export default function Pricing() {
  const choose = (plan) => () => sendMessage(plan);
  return (
    <Stack gap={6}>
      <h1>Pricing</h1>
      <p>Choose the plan that fits your team today. Upgrade, downgrade, or cancel anytime.</p>
      <Row>
        <Badge>Monthly billing</Badge>
        <Badge>Annual discounts available</Badge>
        <Badge>No hidden fees</Badge>
      </Row>
      <Grid cols={3} min={240}>
        <Card title="Basic" subtitle="For individuals and small projects">
          <Price>$12 / month</Price>
          <p>Core features to get started with reliable essentials.</p>
          <Features title="Includes:" items={["1 workspace", "Up to 3 projects", "5 GB storage", "Community support", "Basic analytics"]} />
          <Row>
            <Button tone="plain" onClick={choose("Start Basic")}>Start Basic</Button>
            <Button tone="ghost" onClick={choose("Try Basic free")}>Try free</Button>
          </Row>
        </Card>
        <Card title="Pro" subtitle="For growing teams that need more power" className="bg-surface-2">
          <Price>$29 / month</Price>
          <p>Advanced collaboration, automation, and deeper insights.</p>
          <Features
            title="Everything in Basic, plus:"
            items={[
              "5 workspaces",
              "Unlimited projects",
              "100 GB storage",
              "Team roles & permissions",
              "Automations (1,000 runs/month)",
              "Integrations (Slack, GitHub, Zapier)",
              "Priority email support",
            ]}
          />
          <Row>
            <Button onClick={choose("Choose Pro")}>Choose Pro</Button>
            <Button tone="plain" onClick={choose("Try Pro free")}>Try free</Button>
          </Row>
          <Alert tone="success" title="Most popular">Best value for teams that want to scale without switching tools later.</Alert>
        </Card>
        <Card title="Enterprise" subtitle="For organizations with advanced security and scale">
          <Price>Custom pricing</Price>
          <p>Security, compliance, and dedicated support tailored to your needs.</p>
          <Features
            title="Everything in Pro, plus:"
            items={[
              "Unlimited workspaces",
              "Unlimited storage (fair use)",
              "SSO/SAML & SCIM provisioning",
              "Audit logs & data retention controls",
              "Dedicated success manager",
              "99.9% uptime SLA",
              "Custom legal & invoicing",
            ]}
          />
          <Row>
            <Button onClick={choose("Contact sales")}>Contact sales</Button>
            <Button tone="plain" onClick={choose("Request demo")}>Request demo</Button>
          </Row>
          <Alert title="Need procurement support?">We can provide security docs, vendor onboarding, and custom terms.</Alert>
        </Card>
      </Grid>
      <Table
        label="Feature comparison"
        columns={["Feature", "Basic", "Pro", "Enterprise"]}
        rows={[
          ["Price (monthly)", "$12", "$29", "Custom"],
          ["Workspaces", "1", "5", "Unlimited"],
          ["Projects", "Up to 3", "Unlimited", "Unlimited"],
          ["Storage", "5 GB", "100 GB", "Unlimited (fair use)"],
          ["Team members", "1", "Up to 25", "Unlimited"],
          ["Roles & permissions", "—", "Yes", "Advanced (custom roles)"],
          ["Automations", "—", "1,000 runs/mo", "Unlimited (policy-based)"],
          ["Integrations", "Limited", "Standard", "Standard + custom"],
          ["Analytics", "Basic", "Advanced", "Advanced + exports"],
          ["SSO (SAML)", "—", "—", "Yes"],
          ["SCIM provisioning", "—", "—", "Yes"],
          ["Audit logs", "—", "—", "Yes"],
          ["Support", "Community", "Priority email", "Dedicated + SLA"],
        ]}
      />
      <Stack>
        <Disclosure label="Can I switch plans later?">
          Yes. You can upgrade or downgrade at any time. Changes take effect immediately, and we prorate when applicable.
        </Disclosure>
        <Disclosure label="Do you offer a free trial?">
          Yes. Basic and Pro include a free trial. Enterprise trials are available upon request via Sales.
        </Disclosure>
        <Disclosure label="Do you offer annual billing?">
          Yes. Annual billing includes a discount. Contact Sales for Enterprise annual terms and invoicing.
        </Disclosure>
        <Disclosure label="What about security and compliance?">
          Enterprise includes SSO/SAML, SCIM, audit logs, and data retention controls. We can share security documentation
          during procurement.
        </Disclosure>
      </Stack>
    </Stack>
  );
}
