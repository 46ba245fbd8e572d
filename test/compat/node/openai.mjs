// Conversations with a running server through the official OpenAI SDK for Node.
//
// usage: node openai.mjs BASE_URL SCENARIO,...

import OpenAI from "openai";
import { CITIES, DESCRIPTION, PARAMETERS, Turns, called, check, main, question, weather } from "./conversation.mjs";

const connect = (baseURL) => new OpenAI({ baseURL, apiKey: "none", maxRetries: 0, timeout: 300_000 });
const tools = [{ type: "function", function: { name: "get_weather", description: DESCRIPTION, parameters: PARAMETERS } }];
const forced = { model: "macaron/L1", tools, tool_choice: { type: "function", function: { name: "get_weather" } }, max_tokens: 64, temperature: 0 };
const free = { model: "macaron", tools, tool_choice: "none", max_tokens: 24, temperature: 0 };

// complete asks for an answer, streamed or not, and gives its message and the macaron object.
async function complete(client, body, stream) {
  if (!stream) {
    const answer = await client.chat.completions.create(body);
    check(answer.usage.completion_tokens > 0, "usage", answer.usage);
    return { choice: answer.choices[0], macaron: answer.macaron };
  }
  let macaron, pieces = 0;
  const run = client.chat.completions.stream({ ...body, stream_options: { include_usage: true } });
  for await (const chunk of run) {
    macaron = chunk.macaron ?? macaron;
    const delta = chunk.choices[0]?.delta ?? {};
    pieces += (delta.content ?? delta.tool_calls?.[0]?.function?.arguments) ? 1 : 0;
  }
  const answer = await run.finalChatCompletion();
  check(pieces > 1, pieces, "pieces in", answer);
  check(answer.usage.completion_tokens > 0, "usage", answer.usage);
  return { choice: answer.choices[0], macaron };
}

async function conversation(base, stream) {
  const client = connect(base), turns = new Turns(), messages = [], said = [];
  for (const [n, city] of CITIES.entries()) {
    messages.push({ role: "user", content: question(city, `node ${stream}`) });
    const first = await complete(client, { ...forced, messages }, stream);
    const { message, finish_reason } = first.choice;
    check(finish_reason === "tool_calls" || finish_reason === "stop", "finish", finish_reason);
    check(message.tool_calls.length === 1, "calls", message);
    const call = message.tool_calls[0];
    const input = JSON.parse(call.function.arguments);
    called(call.function.name, input);
    turns.asked(first.macaron);
    messages.push({ role: message.role, content: message.content, tool_calls: message.tool_calls }, { role: "tool", tool_call_id: call.id, content: weather(n) });
    const then = await complete(client, { ...free, messages }, stream);
    check(then.choice.message.content, "an empty answer");
    turns.answered(then.macaron);
    messages.push({ role: "assistant", content: then.choice.message.content });
    said.push(input.city);
  }
  return said.join(" ");
}

// runner lets the SDK itself run the tool.
async function runner(base) {
  const client = connect(base), asked = [];
  const run = client.chat.completions.runTools({
    model: "macaron/L1", max_tokens: 48, temperature: 0, stream: true,
    messages: [{ role: "user", content: "What is the weather in Paris? Use the tool." }],
    tools: [{ type: "function", function: { ...tools[0].function, parse: JSON.parse, function: async (input) => (asked.push(input.city), weather(1)) } }],
  }, { maxChatCompletions: 2 });
  const text = await run.finalContent().catch(() => "it called again");
  check(asked.length > 0, "the tool was not called, but", text);
  return asked.join(" ");
}

async function respond(client, body, stream) {
  if (!stream) {
    return client.responses.create(body);
  }
  const run = client.responses.stream(body);
  let n = 0;
  for await (const event of run) {
    check(event.sequence_number === n++, "number", event.sequence_number, "of", event.type);
  }
  return run.finalResponse();
}

async function responses(base, stream) {
  const client = connect(base), turns = new Turns(), said = [];
  const tool = { type: "function", name: "get_weather", description: DESCRIPTION, parameters: PARAMETERS, strict: true };
  let previous;
  for (const [n, city] of CITIES.entries()) {
    const first = await respond(client, {
      model: "macaron/L1", input: question(city, `responses ${stream}`), previous_response_id: previous, tools: [tool],
      tool_choice: { type: "function", name: "get_weather" }, max_output_tokens: 64, temperature: 0,
    }, stream);
    check(first.status === "completed" && first.output.length === 1, "response", first);
    const call = first.output[0];
    const input = JSON.parse(call.arguments);
    called(call.name, input);
    turns.asked(first.macaron);
    const then = await respond(client, {
      model: "macaron", input: [{ type: "function_call_output", call_id: call.call_id, output: weather(n) }], previous_response_id: first.id,
      tools: [tool], tool_choice: "none", max_output_tokens: 24, temperature: 0,
    }, stream);
    check(then.output_text, "an empty answer", then);
    turns.answered(then.macaron);
    previous = then.id;
    said.push(input.city);
  }
  return said.join(" ");
}

await main({
  chat: (base) => conversation(base, false),
  chat_streamed: (base) => conversation(base, true),
  runner,
  responses: (base) => responses(base, false),
  responses_streamed: (base) => responses(base, true),
});
