// One component that stays while the card's definitions come and go. It calls the newest
// definition as its own body, so the definition's hooks are its hooks, and their state
// stays as long as the list of hooks is the same.
import { useLayoutEffect, type ComponentType, type ReactNode } from "react";

export interface Definition {
  revision: string;
  hooks: string; // equal for definitions whose hooks are the same
  partial: boolean; // still being written: what it throws is told to nobody
  component: ComponentType;
}

interface Props {
  definition: Definition;
  onPaint: (d: Definition) => void;
}

export function Live({ definition, onPaint }: Props): ReactNode {
  const body = definition.component as (props: object) => ReactNode;
  const drawn = body({});
  useLayoutEffect(() => onPaint(definition), [definition]);
  return drawn;
}
