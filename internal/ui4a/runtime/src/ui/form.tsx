import { Fragment, useRef, useState } from "react";
import { call, nodes, type Children } from "./check";
import { Values } from "./controlled";
import { join } from "./join";

export interface FormProps {
  children?: Children;
  /** told what the controls hold, by their labels, when a submit button is pressed and all is valid */
  onSubmit?: (values: Record<string, any>) => void;
  className?: string;
}

/** Puts controls below each other and gathers their values for a Button of type submit. */
export function Form(p: FormProps) {
  const values = useRef(new Map<string, unknown>()).current;
  const [round, setRound] = useState(0); // controls that keep their own values begin anew with each
  return (
    <Values value={values}>
      <form
        className={join("ui-stack ui-form", p.className)}
        onSubmit={(e) => {
          e.preventDefault();
          call<[Record<string, unknown>]>(p.onSubmit, "Form onSubmit")(Object.fromEntries(values));
        }}
        onReset={(e) => {
          e.preventDefault();
          setRound(round + 1);
        }}
      >
        <Fragment key={round}>{nodes(p.children, "Form")}</Fragment>
      </form>
    </Values>
  );
}
