import * as RadixTooltip from "@radix-ui/react-tooltip";
import { isValidElement, useEffect, useRef, useState } from "react";
import { call, label, nodes, one, text, type Children } from "./check";

export interface DisclosureProps {
  /** always in sight; opens and closes the rest */
  label: string;
  children?: Children;
  /** at first */
  open?: boolean;
}

/** Hides details until they are asked for. */
export function Disclosure(p: DisclosureProps) {
  const [open, setOpen] = useState(!!p.open);
  return (
    <details className="ui-disclosure" open={open} onToggle={(e) => setOpen(e.currentTarget.open)}>
      <summary>{label(p.label, "Disclosure")}</summary>
      <div>{nodes(p.children, "Disclosure")}</div>
    </details>
  );
}

export interface DialogProps {
  title: string;
  /** text of the button that opens it */
  trigger?: string;
  tone?: "plain" | "accent" | "danger";
  /** what it shows, or a function of close that gives it */
  children?: Children | ((close: () => void) => Children);
  /** when the card decides, without trigger */
  open?: boolean;
  onClose?: () => void;
}

/** Asks or shows something above the card until it is closed. */
export function Dialog(p: DialogProps) {
  const [own, setOwn] = useState(false);
  const box = useRef<HTMLDialogElement>(null);
  const title = label(p.title, "Dialog title");
  const open = p.open === undefined ? own : !!p.open;
  useEffect(() => {
    if (open && !box.current?.open) box.current?.showModal();
    if (!open && box.current?.open) box.current.close();
  }, [open]);
  const close = () => {
    setOwn(false);
    call<[]>(p.onClose, "Dialog onClose")();
  };
  const trigger = text(p.trigger, "Dialog trigger");
  const inside = typeof p.children === "function" ? p.children(close) : p.children;
  return (
    <>
      {trigger !== "" && (
        <button type="button" className={`ui-button ${one(p.tone, ["plain", "accent", "danger"], "Dialog tone")}`} aria-haspopup="dialog" onClick={() => setOwn(true)}>
          {trigger}
        </button>
      )}
      {/* The browser's own: focus stays inside, Escape closes, the rest is inert. */}
      <dialog ref={box} className="ui-dialog" aria-label={title} onClose={() => open && close()}>
        {open && (
          <>
            <header>
              <h2>{title}</h2>
              <button type="button" className="ui-button ghost bare" aria-label="Close" onClick={close}>
                ×
              </button>
            </header>
            {nodes(inside, "Dialog")}
          </>
        )}
      </dialog>
    </>
  );
}

export interface TooltipProps {
  text: string;
  /** what it explains: a button, or words */
  children: Children;
}

/** Explains something while it is pointed at or has the focus. */
export function Tooltip(p: TooltipProps) {
  const inside = nodes(p.children, "Tooltip");
  const own = isValidElement(inside) && inside.type !== "span" && inside.type !== "div";
  return (
    <RadixTooltip.Provider delayDuration={200}>
      <RadixTooltip.Root>
        <RadixTooltip.Trigger asChild>{own ? <span className="ui-tip-of">{inside}</span> : <button type="button" className="ui-tip-words">{inside}</button>}</RadixTooltip.Trigger>
        <RadixTooltip.Portal>
          <RadixTooltip.Content className="ui-tip" sideOffset={4} collisionPadding={4}>
            {text(p.text, "Tooltip text")}
          </RadixTooltip.Content>
        </RadixTooltip.Portal>
      </RadixTooltip.Root>
    </RadixTooltip.Provider>
  );
}
