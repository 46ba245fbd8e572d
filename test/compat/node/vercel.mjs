// Conversations with a running server through the Vercel AI SDK, by each of its providers
// for the three APIs.
//
// usage: node vercel.mjs BASE_URL SCENARIO,...

import { createAnthropic } from "@ai-sdk/anthropic";
import { createOpenAI } from "@ai-sdk/openai";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { generateText, jsonSchema, streamText, tool } from "ai";
import { CITIES, DESCRIPTION, PARAMETERS, Turns, called, check, main, question, weather } from "./conversation.mjs";

globalThis.AI_SDK_LOG_WARNINGS = false;

const tools = { get_weather: tool({ description: DESCRIPTION, inputSchema: jsonSchema(PARAMETERS) }) };

const providers = {
  compatible: (baseURL) => createOpenAICompatible({ name: "macaron", baseURL, apiKey: "none", includeUsage: true }),
  responses: (baseURL) => createOpenAI({ baseURL, apiKey: "none" }).responses,
  messages: (baseURL) => createAnthropic({ baseURL, apiKey: "none" }),
};

// answer asks for one step, streamed or not.
async function answer(request, stream) {
  if (!stream) {
    const all = await generateText(request);
    return { text: all.text, calls: all.toolCalls, messages: all.response.messages, headers: all.response.headers, usage: all.usage };
  }
  let pieces = 0, failed;
  const run = streamText({ ...request, onError: ({ error }) => { failed = error; } });
  for await (const part of run.fullStream) {
    pieces += part.type === "text-delta" || part.type === "tool-input-delta" ? 1 : 0;
  }
  if (failed) {
    throw failed;
  }
  check(pieces > 1, "only", pieces, "pieces");
  const { messages, headers } = await run.response;
  return { text: await run.text, calls: await run.toolCalls, messages, headers, usage: await run.usage };
}

const place = (headers) => ({ session: headers["x-macaron-session"], turn: headers["x-macaron-turn"] });

async function conversation(base, provider, stream) {
  const make = providers[provider](base), turns = new Turns(), said = [];
  let messages = [];
  for (const [n, city] of CITIES.entries()) {
    messages.push({ role: "user", content: question(city, `${provider} ${stream}`) });
    const common = { tools, maxRetries: 0, temperature: 0 };
    const first = await answer({ ...common, model: make("macaron/L1"), messages, toolChoice: { type: "tool", toolName: "get_weather" }, maxOutputTokens: 64 }, stream);
    check(first.calls.length === 1, "calls", first);
    called(first.calls[0].toolName, first.calls[0].input);
    check(first.usage.outputTokens > 0, "usage", first.usage);
    turns.asked(place(first.headers));
    const output = { type: "json", value: JSON.parse(weather(n)) };
    messages.push(...first.messages, { role: "tool", content: [{ type: "tool-result", toolCallId: first.calls[0].toolCallId, toolName: "get_weather", output }] });
    const then = await answer({ ...common, model: make("macaron"), messages, toolChoice: "none", maxOutputTokens: 24 }, stream);
    check(then.text, "an empty answer");
    turns.answered(place(then.headers));
    messages.push(...then.messages);
    said.push(first.calls[0].input.city);
  }
  return said.join(" ");
}

const scenarios = {};
for (const provider of Object.keys(providers)) {
  scenarios[provider] = (base) => conversation(base, provider, false);
  scenarios[provider + "_streamed"] = (base) => conversation(base, provider, true);
}
await main(scenarios);
