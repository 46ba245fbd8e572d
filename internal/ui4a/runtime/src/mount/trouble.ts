// Tells the host what went wrong: what the card threw, what the policy stopped, what the
// library complained of. The host decides who may read it.
import { line, quoted, send } from "../bridge/port";
import { native } from "../prelude/natives";
import { onProblem } from "../problem";

let revision = "";

/** Names the revision that errors belong to from now on. */
export function ofRevision(r: string) {
  revision = r;
}

export function tellError(where: string, error: unknown) {
  const e = error as { name?: unknown; message?: unknown } | null;
  const said = e && typeof e === "object" && "message" in e ? `${e.name as string}: ${e.message as string}` : error;
  send(line("error", [["revision", native.stringify(revision)], ["where", native.stringify(where)], ["message", quoted(said, 1000)]]));
}

export function watchTrouble() {
  native.listen(window, "error", (e) => tellError("event", (e as ErrorEvent).error ?? (e as ErrorEvent).message));
  native.listen(window, "unhandledrejection", (e) => tellError("promise", (e as PromiseRejectionEvent).reason));
  native.listen(document, "securitypolicyviolation", (e) => {
    const v = e as SecurityPolicyViolationEvent;
    send(line("violation", [["directive", quoted(v.effectiveDirective, 64)], ["blocked", quoted(v.blockedURI, 200)]]));
  });
  onProblem((p) => void send(line("problem", [["code", quoted(p.code, 32)], ["message", quoted(p.message, 300)], ["fix", quoted(p.fix ?? "", 300)]])));
}
