package compile

import (
	"regexp"
	"strings"

	"macaron/internal/ui4a/tsx"
)

// rules looks for the mistakes that models make most.
func (c *card) rules() {
	if c.Subscript >= 0 {
		c.fail(c.Subscript, "jsx-subscript", "an element's name cannot have [ ]", "put the component into a constant first: const Icon = ICONS[key].icon; then <Icon />")
	}
	if c.Mismatch >= 0 {
		return // the compiler tells; what encloses what is not known
	}
	c.pragmas()
	for i, t := range c.Tokens {
		switch t.Kind {
		case tsx.Word:
			c.word(i)
		case tsx.String, tsx.Value, tsx.Template:
			c.address(i)
		}
	}
	for _, e := range c.Elements {
		c.element(e)
	}
	c.headings()
	c.lists()
	c.effects()
	c.state()
	c.cardProps()
}

var pragma = regexp.MustCompile(`@jsx(?:ImportSource|Runtime|Frag)?\s+\S`)

// pragmas refuses comments that change what elements mean.
func (c *card) pragmas() {
	for _, m := range pragma.FindAllStringIndex(c.Text, -1) {
		if c.inComment(m[0]) {
			c.tell("error", m[0], "pragma", "a comment changes what elements are compiled to", "leave the comment out")
			c.fatal = true
		}
	}
}

// inComment says whether a byte lies in no token.
func (c *card) inComment(at int) bool {
	for _, t := range c.Tokens {
		if at < t.End {
			return at < t.Start
		}
	}
	return true
}

// advice is what is wrong with a global name, and what to do instead.
type advice struct{ what, fix string }

var noNetwork = advice{"a card has no network", "write the data into the card, or ask for it with sendMessage"}
var noDialog = advice{"a card cannot open dialogues of the browser", "show it in the card: Dialog, Alert or text"}
var noCode = advice{"a card cannot run texts as code", "write the code itself"}
var noPage = advice{"a card cannot reach the page around it", "use sendMessage or sendAction of \"$ui4a/chat\""}
var noStorage = advice{"what is stored here is gone when the card is opened again", "use usePersistedState of \"$ui4a/state\""}

// forbidden are globals that fail at run time.
var forbidden = map[string]advice{
	"fetch": noNetwork, "XMLHttpRequest": noNetwork, "WebSocket": noNetwork, "EventSource": noNetwork, "WebTransport": noNetwork, "RTCPeerConnection": noNetwork,
	"webkitRTCPeerConnection": noNetwork, "sendBeacon": noNetwork, "importScripts": noNetwork, "Worker": noCode, "SharedWorker": noCode, "serviceWorker": noCode,
	"eval": noCode, "Function": noCode, "require": {"a card cannot load modules", "write import { … } from \"$ui4a/ui\" at the top"},
	"alert": noDialog, "confirm": noDialog, "prompt": noDialog,
	"parent": noPage, "opener": noPage, "postMessage": noPage, "__ui4a": noPage,
}

// properties are the members of forbidden that are found as navigator.x as well.
var properties = words("sendBeacon serviceWorker")

// discouraged work, and not as they are meant.
var discouraged = map[string]advice{
	"localStorage": noStorage, "sessionStorage": noStorage, "indexedDB": noStorage,
	"dangerouslySetInnerHTML": {"markup as text is not checked", "write elements"}, "innerHTML": {"markup as text is not checked", "write elements"},
}

// word looks at a word of code.
func (c *card) word(i int) {
	name := c.TextOf(i)
	if name == "import" && (c.Is(i+1, "(") || c.Is(i+1, ".")) && !c.Is(i-1, ".") {
		c.wrong(i, "forbidden-api", "a card cannot load modules while it runs", "write import { … } from \"$ui4a/ui\" at the top")
		return
	}
	if a, ok := discouraged[name]; ok && !c.declared[name] {
		c.warn(i, "discouraged-api", "%s: %s", "%s", name, a.what, a.fix)
	}
	if a, ok := forbidden[name]; ok && !c.declared[name] && c.isGlobal(i) && (name != "Function" || c.Is(i+1, "(")) {
		c.wrong(i, "forbidden-api", "%s: %s", "%s", name, a.what, a.fix)
	}
	switch {
	case (name == "setTimeout" || name == "setInterval") && c.isString(i+2):
		c.wrong(i+2, "forbidden-api", "%s with a text: %s", "%s", name, noCode.what, "give a function")
	case name == "createElement" && c.isString(i+2) && refused[strings.ToLower(c.unquoted(i+2))]:
		c.wrong(i+2, "forbidden-element", "a card cannot have <%s>", "leave it out", c.unquoted(i+2))
	}
	c.undefined(i)
}

// isGlobal says whether a word reads a global: by itself, or of window and the like.
func (c *card) isGlobal(i int) bool {
	if c.Is(i-1, ".") || c.Is(i-1, "?.") {
		owner := c.TextOf(i - 2)
		return globals[owner] && !c.declared[owner] || properties[c.TextOf(i)] && owner == "navigator"
	}
	return c.isUse(i) && c.Groups[c.Tokens[i].Group].Kind != tsx.Object || c.isUse(i) && c.Is(i+1, "(")
}

var globals = words("window globalThis self top document")

// keywords stand before ( without being called.
var keywords = words("if for while switch catch function return typeof await async new in of do else case throw void delete yield instanceof import super this constructor get set static as satisfies default export extends is keyof infer")

// known are functions that every page has.
var known = words(`Array Boolean Number String Object Symbol BigInt Date RegExp Math JSON Intl Map Set WeakMap WeakSet Promise Proxy Reflect Error TypeError RangeError parseInt parseFloat
	isNaN isFinite encodeURIComponent decodeURIComponent encodeURI decodeURI escape unescape setTimeout clearTimeout setInterval clearInterval requestAnimationFrame cancelAnimationFrame
	requestIdleCallback cancelIdleCallback queueMicrotask structuredClone matchMedia getComputedStyle addEventListener removeEventListener dispatchEvent atob btoa console document window
	Function eval fetch alert confirm prompt require open close print scrollTo scrollBy focus blur postMessage importScripts sendBeacon`)

// undefined tells of a call of something that nobody declares.
func (c *card) undefined(i int) {
	name := c.TextOf(i)
	if !c.Is(i+1, "(") || c.declared[name] || keywords[name] || known[name] || !c.isUse(i) || c.Is(i-1, "new") || c.Is(i-1, "function") {
		return
	}
	if module, _ := implicit(name); module != "" || c.Is(c.Next(i+1), "{") || c.Is(c.Next(i+1), ":") {
		return // a method
	}
	c.wrong(i, "undefined-name", "nothing is called %.60q", "declare it, or import it", name)
}

var (
	preconnect = regexp.MustCompile(`(?i)\b(?:preconnect|dns-prefetch|prefetch|modulepreload)\b`)
	remote     = regexp.MustCompile(`(?i)url\(\s*['"]?\s*(?:https?:)?//|@import`)
)

// address looks for hints to the browser to contact somebody, in any text.
func (c *card) address(i int) {
	text := c.TextOf(i)
	if m := preconnect.FindString(text); m != "" && len(text) < 40 {
		c.wrong(i, "preconnect", "%q would contact another computer", "leave it out: a card has no network", m)
	}
	if remote.MatchString(text) {
		c.wrong(i, "remote-url", "nothing is loaded from other computers", "leave it out, or draw it as SVG")
	}
}
