import * as RadixSwitch from "@radix-ui/react-switch";
import { choices, label, type Choice } from "./check";
import { useControlled } from "./controlled";
import { Notes, useAround } from "./frame";

export interface SwitchProps {
  label: string;
  checked?: boolean;
  onChange?: (checked: boolean) => void;
  hint?: string;
  disabled?: boolean;
}

/** Turns something on or off at once. */
export function Switch(p: SwitchProps) {
  const around = useAround(p, "Switch");
  const [checked, set] = useControlled(p.label, p.checked, p.onChange, false, "Switch", "checked");
  return (
    <div className="ui-toggle">
      <RadixSwitch.Root id={around.id} className="ui-switch" checked={!!checked} onCheckedChange={set} disabled={!!p.disabled} aria-describedby={around.described}>
        <RadixSwitch.Thumb />
      </RadixSwitch.Root>
      <div>
        <label htmlFor={around.id}>{label(p.label, "Switch")}</label>
        <Notes {...around} />
      </div>
    </div>
  );
}

export interface CheckboxProps {
  label: string;
  checked?: boolean;
  onChange?: (checked: boolean) => void;
  hint?: string;
  error?: string;
  required?: boolean;
  disabled?: boolean;
}

/** Ticks one thing. */
export function Checkbox(p: CheckboxProps) {
  const around = useAround(p, "Checkbox");
  const [checked, set] = useControlled(p.label, p.checked, p.onChange, false, "Checkbox", "checked");
  return (
    <div className="ui-toggle">
      <input
        id={around.id}
        type="checkbox"
        className="ui-checkbox"
        checked={!!checked}
        onChange={(e) => set(e.target.checked)}
        required={!!p.required}
        disabled={!!p.disabled}
        aria-invalid={around.error !== "" || undefined}
        aria-describedby={around.described}
      />
      <div>
        <label htmlFor={around.id}>
          {label(p.label, "Checkbox")}
          {p.required && <span aria-hidden> *</span>}
        </label>
        <Notes {...around} />
      </div>
    </div>
  );
}

export interface RadioGroupProps {
  label: string;
  /** strings, or {value, label} */
  options: Choice[];
  value?: string;
  onChange?: (value: string) => void;
  /** beside each other, as boxes */
  row?: boolean;
  hint?: string;
  error?: string;
  required?: boolean;
  disabled?: boolean;
}

/** Chooses one of a few that are all in sight. */
export function RadioGroup(p: RadioGroupProps) {
  const around = useAround(p, "RadioGroup");
  const [value, set] = useControlled(p.label, p.value, p.onChange, "", "RadioGroup");
  return (
    <div className="ui-field">
      <div className="ui-label" id={`${around.id}-label`}>
        <span>
          {label(p.label, "RadioGroup")}
          {p.required && <span aria-hidden> *</span>}
        </span>
      </div>
      <div className={p.row ? "ui-radios row" : "ui-radios"} role="radiogroup" aria-labelledby={`${around.id}-label`} aria-describedby={around.described} aria-required={!!p.required || undefined}>
        {choices(p.options, "RadioGroup options").map((o) => (
          <label className="ui-toggle" key={o.value}>
            <input type="radio" className="ui-radio" name={around.id} value={o.value} checked={String(value) === o.value} onChange={() => set(o.value)} required={!!p.required} disabled={!!p.disabled} />
            <span>{o.label}</span>
          </label>
        ))}
      </div>
      <Notes {...around} />
    </div>
  );
}
