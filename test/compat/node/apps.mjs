// The official client of the Model Context Protocol as a host of MCP Apps, talking to the
// program, which the other arguments start: what it would draw, as JSON. The first argument is
// a file with the cards. A client that does not draw views goes first.
import { readFileSync } from "node:fs";
import assert from "node:assert/strict";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { getToolUiResourceUri, isToolVisibilityModelOnly, RESOURCE_MIME_TYPE } from "@modelcontextprotocol/ext-apps/app-bridge";

const [cards, command, ...args] = process.argv.slice(2);
const calls = JSON.parse(readFileSync(cards, "utf8")).map((code) => ({ name: "render_ui", arguments: { code } }));

async function talk(capabilities, f) {
  const client = new Client({ name: "host", version: "1" }, { capabilities });
  await client.connect(new StdioClientTransport({ command, args }));
  try {
    return await f(client);
  } finally {
    await client.close();
  }
}

await talk({}, async (client) => {
  const result = await client.callTool(calls[0]);
  assert.equal(result._meta?.["macaron/card"], undefined, "a client without views gets no card");
  assert.equal(JSON.parse(result.content[0].text).ok, true);
});

const extensions = { "io.modelcontextprotocol/ui": { mimeTypes: [RESOURCE_MIME_TYPE] } };
const host = await talk({ extensions }, async (client) => {
  const tool = (await client.listTools()).tools.find((t) => t.name === "render_ui");
  const uri = getToolUiResourceUri(tool);
  assert.ok(isToolVisibilityModelOnly(tool));
  const view = (await client.readResource({ uri })).contents[0];
  assert.equal(view.uri, uri);
  assert.equal(view.mimeType, RESOURCE_MIME_TYPE);
  assert.match((await client.readResource({ uri: "ui4a://prompt" })).contents[0].text, /\$ui4a\/ui/);
  const bad = await client.callTool({ name: "render_ui", arguments: { code: "export default () => <p>" } });
  assert.equal(JSON.parse(bad.content[0].text).ok, false);
  assert.equal(bad._meta?.["macaron/card"], undefined);
  const drawn = [];
  for (const call of calls) {
    const result = await client.callTool(call);
    assert.ok(!JSON.stringify([result.content, result.structuredContent]).includes("__ui4a"), "the script is not for the model");
    drawn.push({ input: call.arguments, result });
  }
  return { html: view.text, ui: view._meta.ui, drawn };
});
process.stdout.write(JSON.stringify(host));
