// Builds an Action from what the frame asks for. Identity, origin, time, sequence and the
// state's values are the host's; the frame chooses name, text and keys.

const alphabet = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
const form = /^[A-Za-z][A-Za-z0-9_.-]{0,63}$/;

/** act_ and a ULID. */
export function actionId(now = Date.now()) {
  let id = "";
  for (let i = 0; i < 10; i++, now = Math.floor(now / 32)) id = alphabet[now % 32] + id;
  for (const b of crypto.getRandomValues(new Uint8Array(16))) id += alphabet[b % 32];
  return "act_" + id;
}

/** The Action, or a sentence that says what is wrong with the wish. */
export function buildAction(m, card, surface) {
  const names = (v) => (Array.isArray(v) ? v.filter((s) => typeof s === "string").slice(0, 64) : []);
  const message = m.kind === "message";
  if (message ? !m.text : !form.test(m.name)) return "The Action has no text, or a name that is none.";
  if (!["event", "local", "host-capability"].includes(m.execution)) return "execution is event, local or host-capability.";
  const capability = m.execution === "host-capability" ? m.capability : "";
  if (capability && !surface.options.capabilities.includes(capability)) return "This host does not offer that capability.";
  if (m.execution === "host-capability" && !capability) return "host-capability needs the capability's name.";
  const state = {};
  for (const key of names(m.reads)) if (Object.hasOwn(card.keys ?? {}, key)) state[key] = valueOf(key, card, surface, capability);
  return {
    id: actionId(),
    origin: { surface: surface.options.surface, revision: card.revision, node: String(m.node ?? "").slice(0, 120) },
    kind: message ? "message" : "action",
    ...(message ? { text: m.text } : { name: m.name }),
    state,
    execution: m.execution,
    ...(capability && { capability }),
    visibility: { audience: m.audience === "user" ? "user" : "ai", noai: names(m.noai) },
    time: new Date().toISOString(),
    sequence: ++surface.sequence,
  };
}

/** A private value goes to a capability alone; elsewhere its key stands with null. */
function valueOf(key, card, surface, capability) {
  if (!card.keys[key].noai) return surface.state.get(key) ?? null;
  return capability ? (surface.secrets.held.get(key) ?? surface.secrets.sealed.get(key) ?? null) : null;
}
