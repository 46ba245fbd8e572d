import { ask } from "../bridge/ask";

/** Sends a text as if the person had written it. */
export function sendMessage(text: string): Promise<Receipt> {
  return ask({ kind: "message", text });
}

/** Sends an action by name with the values of the state keys in reads; execution local tells nobody, destructive asks the person first. */
export function sendAction(action: { name: string; reads?: string[]; execution?: "event" | "local" | "host-capability"; capability?: string; audience?: "ai" | "user"; noai?: string[]; destructive?: boolean }): Promise<Receipt> {
  return ask({ kind: "action", ...action });
}

type Receipt = { outcome: "sent" | "kept" | "refused"; reason?: string; message: string };
