package compile

import (
	"strings"

	"macaron/internal/ui4a/library"
)

// reactModule is what every card may import besides the library.
const reactModule = "react"

// hooks of React and other values of it that a card may use without importing them.
var reactValues = words(`useState useEffect useMemo useRef useCallback useReducer useId useLayoutEffect useContext useTransition useDeferredValue useSyncExternalStore
	useImperativeHandle useInsertionEffect useDebugValue useOptimistic useActionState Fragment Children createContext createElement cloneElement createRef forwardRef isValidElement memo
	startTransition StrictMode Suspense Profiler Component PureComponent lazy use act cache version Activity`)

// reactTypes are names that are erased.
var reactTypes = words(`ReactNode ReactElement FC FunctionComponent ComponentType CSSProperties PropsWithChildren Dispatch SetStateAction MouseEvent ChangeEvent FormEvent KeyboardEvent
	PointerEvent FocusEvent DragEvent TouchEvent SyntheticEvent RefObject MutableRefObject Ref HTMLAttributes ComponentProps ComponentPropsWithoutRef JSX Key ElementType ReactEventHandler Reducer`)

func words(list string) map[string]bool {
	m := map[string]bool{}
	for w := range strings.FieldsSeq(list) {
		m[w] = true
	}
	return m
}

// imports checks what the module imports and exports, and adds imports that it forgot.
func (c *card) imports() {
	for _, m := range c.imported {
		c.checkImport(m)
	}
	c.checkExport()
	c.forgotten()
}

func (c *card) checkImport(m imported) {
	if m.moduleAt < 0 || m.typeOnly {
		return // types are erased; what is no import the compiler tells
	}
	if m.module == reactModule {
		c.checkReact(m)
		return
	}
	lib, ok := library.Find(m.module)
	if !ok {
		c.fail(m.moduleAt, "import-forbidden", "a card cannot import %.80q%s", "%s", m.module, whyNot(m.module), instead(m.module))
		return
	}
	for _, b := range m.names {
		c.checkName(m, lib, b)
	}
}

func (c *card) checkName(m imported, lib library.Module, b binding) {
	_, ok := lib.Export(b.name)
	switch {
	case b.only || b.name == "*" || ok:
	case b.name == "default":
		c.fail(b.at, "unknown-export", "%s has no default export", "write import { … } from %q with the names of what you use", m.module, m.module)
	default:
		severity := c.fail
		if m.module == iconModule {
			severity = c.wrong // a blank square stands in its place
		}
		severity(b.at, "unknown-export", "%s has no %.60q", "%s", m.module, b.name, nearExport(lib, b.name))
	}
}

const iconModule = "$ui4a/icons"

// nearExport says where a name is, or which names are like it.
func nearExport(lib library.Module, name string) string {
	for _, m := range library.Modules() {
		if _, ok := m.Export(name); ok {
			return "it is in another module: import { " + name + " } from " + quote(m.Name)
		}
	}
	if reactValues[name] {
		return `it is React's: import { ` + name + ` } from "react"`
	}
	var names []string
	for _, e := range lib.Exports {
		names = append(names, e.Name)
	}
	if near := library.Near(name, names); len(near) > 0 {
		return "use " + strings.Join(near, " or ")
	}
	if len(names) > 40 {
		return "use another of its names, or none"
	}
	return "it has " + strings.Join(names, ", ")
}

func (c *card) checkReact(m imported) {
	for _, b := range m.names {
		if b.only || b.name == "default" || b.name == "*" || reactValues[b.name] || reactTypes[b.name] || strings.HasPrefix(b.name, "unstable_") {
			continue
		}
		if c.uses(b.local, b.at) == 0 {
			continue // a type, or nothing: it is erased
		}
		fix := "leave it out"
		if near := library.Near(b.name, sortedKeys(reactValues)); len(near) > 0 {
			fix = "use " + strings.Join(near, " or ")
		}
		c.fail(b.at, "unknown-export", "react has no %.60q", "%s", b.name, fix)
	}
}

// whyNot says what kind of name it is.
func whyNot(module string) string {
	switch {
	case strings.HasPrefix(module, "."), strings.HasPrefix(module, "/"), strings.HasPrefix(module, `\`), strings.HasPrefix(module, "file:"):
		return ": it is one file, and reads no others"
	case strings.HasPrefix(module, "node:"), nodeModules[module]:
		return ": it has no operating system"
	case strings.Contains(module, "://"), strings.HasPrefix(module, "data:"), strings.HasPrefix(module, "blob:"), strings.HasPrefix(module, "//"):
		return ": it loads no code"
	}
	return ""
}

var nodeModules = words("fs path os http https net child_process process crypto util stream buffer url events fs/promises worker_threads vm")

// others are modules that models know, and what a card uses in their place.
var others = []struct{ part, use string }{
	{"lucide", `icons come from "$ui4a/icons", by the same names`},
	{"icon", `icons come from "$ui4a/icons"`},
	{"recharts", `charts come from "$ui4a/charts"`},
	{"chart", `charts come from "$ui4a/charts"`},
	{"katex", `formulas come from "$ui4a/katex"`},
	{"motion", "use transition classes and CSS instead"},
	{"react-dom", "the card is mounted for you: only export it"},
	{"components/ui", `components come from "$ui4a/ui"`},
	{"$macaron/", `components come from "$ui4a/ui"`},
	{"$dsh/", `use "$ui4a/state" and "$ui4a/chat"`},
	{"clsx", "write className as a template"},
	{"date-fns", "use Date and Intl"},
	{"dayjs", "use Date and Intl"},
	{"lodash", "use methods of arrays and objects"},
	{".css", "use utility classes, or style={{ … }}"},
	{".json", "write the data into the card"},
}

func instead(module string) string {
	for _, o := range others {
		if strings.Contains(module, o.part) {
			return o.use
		}
	}
	names := []string{}
	for _, m := range library.Modules() {
		names = append(names, m.Name)
	}
	if near := library.Near(module, names); len(near) > 0 && strings.HasPrefix(module, "$ui4a") {
		return "use " + quote(near[0])
	}
	return "a card may import from " + strings.Join(names, ", ") + "; write the rest yourself"
}

// checkExport looks for the component that the card is.
func (c *card) checkExport() {
	e := c.exported
	if e.at < 0 {
		c.fail(len(c.Tokens), "no-default-export", "the card exports no component", "write export default function %s() { return …; }", c.mainName())
		return
	}
	if at, ok := c.importedName(e.name); ok && e.name != "" {
		c.fail(e.named, "shadowed-import", "the default export has the name %s, which is imported in line %d: inside of it, <%s> would be itself", "call the component otherwise, for example %sCard",
			e.name, c.lineOf(at), e.name, e.name)
		return
	}
	switch first := c.TextOf(e.from); {
	case first == "<", first == "{", first == "[", c.isString(e.from), first == "null":
		c.fail(e.from, "no-component", "the default export is no component", "write export default function Card() { return …; }")
	case c.Is(e.from, "class"):
		c.warn(e.from, "class-component", "the card is a class", "write a function; hooks keep its state")
	}
}

func (c *card) lineOf(token int) int {
	line, _ := c.place(c.at(token))
	return line
}

// importedName says whether a local name is imported, and where.
func (c *card) importedName(local string) (token int, ok bool) {
	for _, m := range c.imported {
		for _, b := range m.names {
			if b.local == local && !m.typeOnly && !b.only {
				return b.at, true
			}
		}
	}
	return -1, false
}

// mainName is the last component that the module declares: probably what was to be
// exported.
func (c *card) mainName() string {
	name, last := "Card", -1
	for n, at := range c.top {
		if _, imported := c.importedName(n); !imported && isComponent(n) && at > last {
			name, last = n, at
		}
	}
	return name
}

// isComponent says whether an element of this name is a component rather than HTML.
func isComponent(name string) bool { return name != "" && name[0] >= 'A' && name[0] <= 'Z' }
