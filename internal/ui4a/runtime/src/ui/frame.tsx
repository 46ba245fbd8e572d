// What stands around a control: its label, a hint, an error.
import { useId, type ReactNode } from "react";
import { text } from "./check";
import { join } from "./join";

export interface Around {
  hint?: unknown;
  error?: unknown;
}

/** The ids that a control needs to be described by what stands around it. */
export function useAround(p: Around, component: string) {
  const id = useId();
  const hint = text(p.hint, `${component} hint`);
  const error = text(p.error, `${component} error`);
  const described = join(hint !== "" && `${id}-hint`, error !== "" && `${id}-error`) || undefined;
  return { id, hint, error, described };
}

/** Draws a label above a control, hint and error below it. */
export function Frame(p: { around: ReturnType<typeof useAround>; label: string; htmlFor?: string; required?: boolean; value?: ReactNode; children: ReactNode }) {
  const { id, hint, error } = p.around;
  return (
    <div className="ui-field">
      <div className="ui-label">
        <label id={`${id}-label`} htmlFor={p.htmlFor ?? id}>
          {p.label}
          {p.required && <span aria-hidden> *</span>}
        </label>
        {p.value}
      </div>
      {p.children}
      <Notes id={id} hint={hint} error={error} />
    </div>
  );
}

/** Draws hint and error. */
export function Notes({ id, hint, error }: { id: string; hint: string; error: string }) {
  return (
    <>
      {hint !== "" && (
        <p id={`${id}-hint`} className="ui-hint">
          {hint}
        </p>
      )}
      {error !== "" && (
        <p id={`${id}-error`} className="ui-error" role="alert">
          {error}
        </p>
      )}
    </>
  );
}
