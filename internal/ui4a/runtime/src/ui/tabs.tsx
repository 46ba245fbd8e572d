import * as Radix from "@radix-ui/react-tabs";
import { Children as Each, Fragment, isValidElement, type ReactElement, type ReactNode } from "react";
import { report } from "../problem";
import { label, nodes, type Children } from "./check";
import { useControlled } from "./controlled";

export interface TabsProps {
  /** what the tabs divide */
  label: string;
  /** Tab elements */
  children: Children;
  /** label of the open tab */
  value?: string;
  onChange?: (label: string) => void;
}

/** Shows one of several parts. */
export function Tabs(p: TabsProps) {
  const tabs = parts(p.children);
  const names = tabs.map((t) => label(t.props.label, "Tab"));
  const [value, set] = useControlled(p.label, p.value, p.onChange, names[0] ?? "", "Tabs");
  const open = names.includes(String(value)) ? String(value) : (names[0] ?? ""); // a tab may come or go while the card streams
  // Radix makes ids of the values, and ids have no spaces: so they are places, not labels.
  return (
    <Radix.Root className="ui-tabs" value={String(names.indexOf(open))} onValueChange={(place) => set(names[Number(place)] ?? "")}>
      <Radix.List aria-label={label(p.label, "Tabs")}>
        {names.map((name, i) => (
          <Radix.Trigger key={name} value={String(i)} className="ui-tab">
            {name}
          </Radix.Trigger>
        ))}
      </Radix.List>
      {tabs.map((t, i) => (
        <Radix.Content key={names[i]} value={String(i)}>
          {nodes(t.props.children, "Tab")}
        </Radix.Content>
      ))}
    </Radix.Root>
  );
}

/** Gives the tabs among children, those inside fragments too; others are told. */
function parts(children: ReactNode): ReactElement<TabProps>[] {
  const all: ReactElement<TabProps>[] = [];
  for (const c of Each.toArray(nodes(children, "Tabs"))) {
    if (!isValidElement<TabProps>(c)) continue;
    if (c.type === Fragment) all.push(...parts(c.props.children));
    else if (c.type === Tab) all.push(c);
    else report({ code: "prop", message: "Tabs: something that is no Tab is not shown", fix: '<Tabs label="…"><Tab label="…">…</Tab></Tabs>' });
  }
  return all;
}

export interface TabProps {
  label: string;
  children?: Children;
}

/** One part of Tabs. */
export function Tab(p: TabProps) {
  report({ code: "prop", message: "Tab: it stands outside of Tabs", fix: "put it directly into Tabs" });
  return <>{nodes(p.children, "Tab")}</>;
}
