// What the conversations of all Node clients share: five questions about the weather of
// five cities, a tool that answers them, and what must hold of every turn.

export const CITIES = ["Paris", "Rome", "Oslo", "Lima", "Cairo"];

export const PARAMETERS = {
  type: "object",
  properties: { city: { type: "string", maxLength: 12 } },
  required: ["city"],
  additionalProperties: false,
};

export const DESCRIPTION = "The weather of a city, today.";

export const question = (city, client) => `What is the weather in ${city}? (by ${client})`;

export const weather = (n) => JSON.stringify({ sky: "clear", celsius: 20 + n });

export function check(condition, ...told) {
  if (!condition) {
    throw new Error("failed: " + told.map((x) => (typeof x === "string" ? x : JSON.stringify(x))).join(" "));
  }
}

// Turns watches where the requests of one conversation went: one session, a turn for each
// question, and the results of a call in the turn of the call.
export class Turns {
  session;
  seen = new Set();
  last;

  asked({ session, turn }) {
    this.session ??= session;
    check(session && session === this.session, "session", session, "was", this.session);
    check(turn && !this.seen.has(turn), "turn", turn, "came twice");
    this.seen.add(turn);
    this.last = turn;
  }

  answered({ session, turn }) {
    check(session === this.session && turn === this.last, "the result went to", turn, "not", this.last);
  }
}

// called checks the one call of an answer.
export function called(name, input) {
  check(name === "get_weather", "called", name);
  check(typeof input.city === "string" && [...input.city].length <= 12, "arguments", input);
}

// main runs the scenarios that the command line names.
export async function main(scenarios) {
  const [base, names] = process.argv.slice(2);
  for (const name of names.split(",")) {
    console.log(`${name}: ${await scenarios[name](base)}`);
  }
}
