import * as Radix from "@radix-ui/react-slider";
import { useState } from "react";
import { label, number, text } from "./check";
import { useControlled } from "./controlled";
import { Frame, useAround } from "./frame";
import { withUnit } from "./unit";

/** The bounds of a number, in order, with a step above zero. */
function bounds(p: { min?: unknown; max?: unknown; step?: unknown }, min: number, max: number, component: string) {
  const low = number(p.min, min, `${component} min`);
  const high = number(p.max, max, `${component} max`);
  const step = number(p.step, 1, `${component} step`);
  return { min: Math.min(low, high), max: Math.max(low, high), step: step > 0 ? step : 1 };
}

const clamp = (n: number, b: { min: number; max: number }) => Math.min(b.max, Math.max(b.min, n));
// Sums of steps such as 0.1 are shown as they are meant.
const tidy = (n: number) => Number(n.toPrecision(12));

export interface SliderProps {
  label: string;
  value?: number;
  onChange?: (value: number) => void;
  min?: number;
  max?: number;
  step?: number;
  /** after the number */
  unit?: string;
  hint?: string;
  disabled?: boolean;
}

/** Chooses a number by moving; 0 to 100 without min and max. */
export function Slider(p: SliderProps) {
  const around = useAround(p, "Slider");
  const name = label(p.label, "Slider");
  const b = bounds(p, 0, 100, "Slider");
  const [value, set] = useControlled(p.label, p.value, p.onChange, b.min, "Slider");
  const n = clamp(number(value, b.min, "Slider value"), b);
  const shown = withUnit(n.toLocaleString(undefined, { maximumFractionDigits: 6 }), text(p.unit, "Slider unit"));
  return (
    <Frame around={around} label={name} htmlFor={`${around.id}-none`} value={<output>{shown}</output>}>
      <Radix.Root className="ui-slider" value={[n]} onValueChange={([next]) => next !== undefined && set(tidy(next))} disabled={!!p.disabled} {...b}>
        <Radix.Track>
          <Radix.Range />
        </Radix.Track>
        <Radix.Thumb aria-label={name} aria-valuetext={shown} aria-describedby={around.described} />
      </Radix.Root>
    </Frame>
  );
}

export interface NumberFieldProps {
  label: string;
  value?: number;
  onChange?: (value: number) => void;
  min?: number;
  max?: number;
  step?: number;
  /** beside the label */
  unit?: string;
  hint?: string;
  error?: string;
  required?: boolean;
  disabled?: boolean;
}

/** Chooses a number by typing, or with the buttons beside it. */
export function NumberField(p: NumberFieldProps) {
  const around = useAround(p, "NumberField");
  const name = label(p.label, "NumberField");
  const b = bounds(p, -Infinity, Infinity, "NumberField");
  const [value, set] = useControlled(p.label, p.value, p.onChange, Number.isFinite(b.min) ? b.min : 0, "NumberField");
  const [typed, setTyped] = useState<string | null>(null); // what is being typed, which may be no number yet
  const n = number(value, 0, "NumberField value");
  const unit = text(p.unit, "NumberField unit");
  const move = (by: number) => {
    setTyped(null);
    set(clamp(tidy(n + by), b));
  };
  const type = (s: string) => {
    setTyped(s);
    if (s.trim() !== "" && Number.isFinite(Number(s))) set(clamp(Number(s), b));
  };
  return (
    <Frame around={around} label={name} required={!!p.required} value={unit !== "" && <span className="ui-hint">{unit}</span>}>
      <div className="ui-number">
        <button type="button" className="ui-step" aria-label={`${name}: less`} disabled={!!p.disabled || n <= b.min} onClick={() => move(-b.step)}>
          −
        </button>
        <input
          id={around.id}
          type="number"
          inputMode="decimal"
          value={typed ?? String(n)}
          onChange={(e) => type(e.target.value)}
          onBlur={() => setTyped(null)}
          min={Number.isFinite(b.min) ? b.min : undefined}
          max={Number.isFinite(b.max) ? b.max : undefined}
          step={p.step === undefined ? "any" : b.step}
          required={!!p.required}
          disabled={!!p.disabled}
          aria-invalid={around.error !== "" || undefined}
          aria-describedby={around.described}
        />
        <button type="button" className="ui-step" aria-label={`${name}: more`} disabled={!!p.disabled || n >= b.max} onClick={() => move(b.step)}>
          +
        </button>
      </div>
    </Frame>
  );
}
