import { Alert, Button, Card, Field, Form, Row, Switch, Tab, Tabs } from "$ui4a/ui";
import { sendMessage } from "$ui4a/chat";
import { usePersistedState } from "$ui4a/state";

export default function Settings() {
  const [twoFactor, setTwoFactor] = usePersistedState("twoFactor", false);
  const [email, setEmail] = usePersistedState("email", true);
  const [product, setProduct] = usePersistedState("product", false);
  const [security, setSecurity] = usePersistedState("security", true);
  return (
    <>
      <h1>User Settings</h1>
      <Tabs label="Settings">
        <Tab label="Profile">
          <Card title="Profile" subtitle="Update your personal information and avatar.">
            <Form onSubmit={(values) => sendMessage(`Save changes: ${JSON.stringify(values)}`)}>
              <Field label="Display name" placeholder="e.g., Alex Johnson" required minLength={2} maxLength={60} />
              <Field label="Avatar URL" type="url" placeholder="https://example.com/avatar.png" />
              <Row>
                <Button type="submit">Save changes</Button>
                <Button type="reset" tone="plain">Reset</Button>
              </Row>
            </Form>
          </Card>
        </Tab>
        <Tab label="Security">
          <Card title="Security" subtitle="Manage sign-in protection and account security.">
            <Switch
              label="Two-factor authentication (2FA)"
              hint="Require a verification code when signing in."
              checked={twoFactor}
              onChange={setTwoFactor}
            />
            <Alert title="Tip">After enabling 2FA, you may be asked to set up an authenticator app or backup codes.</Alert>
          </Card>
        </Tab>
        <Tab label="Notifications">
          <Card title="Notifications" subtitle="Choose what you want to be notified about.">
            <Switch label="Email notifications" hint="Receive updates and account messages by email." checked={email} onChange={setEmail} />
            <Switch label="Product updates" hint="Get notified about new features and improvements." checked={product} onChange={setProduct} />
            <Switch label="Security alerts" hint="Important alerts about sign-ins and security changes." checked={security} onChange={setSecurity} />
          </Card>
        </Tab>
      </Tabs>
    </>
  );
}
