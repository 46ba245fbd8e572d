import { choices, label, number, one, text, type Choice } from "./check";
import { useControlled } from "./controlled";
import { Frame, useAround } from "./frame";

export interface FieldProps {
  label: string;
  value?: string;
  onChange?: (value: string) => void;
  type?: "text" | "email" | "tel" | "url" | "password" | "search" | "date" | "time" | "month" | "color";
  /** more than 1: a text area */
  rows?: number;
  placeholder?: string;
  hint?: string;
  error?: string;
  required?: boolean;
  minLength?: number;
  maxLength?: number;
  disabled?: boolean;
}

/** A labelled text field. */
export function Field(p: FieldProps) {
  const around = useAround(p, "Field");
  const [value, set] = useControlled(p.label, p.value, p.onChange, "", "Field");
  const rows = Math.min(20, number(p.rows, 1, "Field rows"));
  const shared = {
    id: around.id,
    value: text(value, "Field value"),
    onChange: (e: { target: { value: string } }) => set(e.target.value),
    placeholder: text(p.placeholder, "Field placeholder") || undefined,
    required: !!p.required,
    minLength: p.minLength === undefined ? undefined : number(p.minLength, 0, "Field minLength"),
    maxLength: p.maxLength === undefined ? undefined : number(p.maxLength, 524288, "Field maxLength"),
    disabled: !!p.disabled,
    "aria-invalid": around.error !== "" || undefined,
    "aria-describedby": around.described,
  };
  const type = one(p.type, ["text", "email", "tel", "url", "password", "search", "date", "time", "month", "color"], "Field type");
  return (
    <Frame around={around} label={label(p.label, "Field")} required={!!p.required}>
      {rows > 1 ? <textarea rows={rows} {...shared} /> : <input type={type} autoComplete="off" {...shared} />}
    </Frame>
  );
}

export interface SelectProps {
  label: string;
  /** strings, or {value, label} */
  options: Choice[];
  value?: string;
  onChange?: (value: string) => void;
  /** shown while nothing is chosen */
  placeholder?: string;
  hint?: string;
  error?: string;
  required?: boolean;
  disabled?: boolean;
}

/** Chooses one of many. */
export function Select(p: SelectProps) {
  const around = useAround(p, "Select");
  const options = choices(p.options, "Select options");
  const empty = text(p.placeholder, "Select placeholder");
  const [value, set] = useControlled(p.label, p.value, p.onChange, empty === "" ? (options[0]?.value ?? "") : "", "Select");
  const chosen = text(value, "Select value");
  // The browser's own list: it may leave the frame of a card, which is often low.
  return (
    <Frame around={around} label={label(p.label, "Select")} required={!!p.required}>
      <select
        id={around.id}
        value={chosen}
        onChange={(e) => set(e.target.value)}
        required={!!p.required}
        disabled={!!p.disabled}
        aria-invalid={around.error !== "" || undefined}
        aria-describedby={around.described}
      >
        {!options.some((o) => o.value === chosen) && <option value={chosen}>{empty || chosen || "Choose…"}</option>}
        {options.map((o) => (
          <option key={o.value} value={o.value}>
            {o.label}
          </option>
        ))}
      </select>
    </Frame>
  );
}
