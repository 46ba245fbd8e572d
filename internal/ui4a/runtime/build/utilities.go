package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"macaron/internal/ui4a/library"
)

// The utility classes are a fixed part of Tailwind's names, which models know, with the
// host's tokens for colours. Widths that variants ask for are those of the card.

// family is one group of classes with the declarations of each.
type family struct {
	doc   string
	rules []rule
}

// rule is a class; inside is put between the class and its declarations, such as ":hover".
type rule struct{ name, inside, declarations string }

// variants are container queries: from this width of the card on.
var variants = []struct{ name, width string }{{"sm", "480px"}, {"md", "720px"}}

// classes gives the names of all utility classes, for the table.
func classes() []library.Class {
	var all []library.Class
	for _, f := range families() {
		c := library.Class{Doc: f.doc}
		for _, r := range f.rules {
			c.Names = append(c.Names, r.name)
		}
		all = append(all, c)
	}
	return all
}

// utilities gives the stylesheet of all utility classes.
func utilities() string {
	var b strings.Builder
	for _, f := range families() {
		for _, r := range f.rules {
			body := fmt.Sprintf(".%s%s{%s}\n", escape(r.name), r.inside, r.declarations)
			if width := query(r.name); width != "" {
				body = fmt.Sprintf("@container (min-width:%s){%s}\n", width, body)
			}
			b.WriteString(body)
		}
	}
	return b.String()
}

func query(name string) string {
	for _, v := range variants {
		if strings.HasPrefix(name, v.name+":") {
			return v.width
		}
	}
	return ""
}

// escape writes a class name as a selector has it.
func escape(name string) string {
	return strings.NewReplacer(":", `\:`, "/", `\/`, ".", `\.`).Replace(name)
}

func families() []family {
	plain := slices.Concat(spacing(), layout(), size(), words(), colours(), edges(), rest())
	return append(plain, wider(plain))
}

// steps are the lengths of spacing: n is n times 4 px.
var steps = []string{"0", "0.5", "1", "1.5", "2", "2.5", "3", "4", "5", "6", "8", "10", "12"}

func length(step string) string {
	n, _ := strconv.ParseFloat(step, 64) // steps are constants of this file
	return strconv.FormatFloat(4*n, 'f', -1, 64) + "px"
}

// each makes a rule for every value; %s in the declarations is what css gives for it.
func each(prefix, declarations string, values []string, css func(string) string) []rule {
	var rules []rule
	for _, v := range values {
		rules = append(rules, rule{name: prefix + v, declarations: strings.ReplaceAll(declarations, "%s", css(v))})
	}
	return rules
}

// pairs makes rules of alternating names and declarations.
func pairs(text ...string) []rule {
	var rules []rule
	for i := 0; i < len(text); i += 2 {
		rules = append(rules, rule{name: text[i], declarations: text[i+1]})
	}
	return rules
}

func same(s string) string { return s }

func spacing() []family {
	sides := []struct{ name, of string }{
		{"", "%p:%s"}, {"x", "%p-left:%s;%p-right:%s"}, {"y", "%p-top:%s;%p-bottom:%s"},
		{"t", "%p-top:%s"}, {"r", "%p-right:%s"}, {"b", "%p-bottom:%s"}, {"l", "%p-left:%s"},
	}
	var padding, margin []rule
	for _, s := range sides {
		padding = append(padding, each("p"+s.name+"-", strings.ReplaceAll(s.of, "%p", "padding"), steps, length)...)
		margin = append(margin, each("m"+s.name+"-", strings.ReplaceAll(s.of, "%p", "margin"), append(steps[:len(steps):len(steps)], "auto"), func(v string) string {
			if v == "auto" {
				return v
			}
			return length(v)
		})...)
	}
	gap := slices.Concat(each("gap-", "gap:%s", steps, length), each("gap-x-", "column-gap:%s", steps, length), each("gap-y-", "row-gap:%s", steps, length))
	for _, r := range each("space-y-", "margin-top:%s", steps, length) {
		gap = append(gap, rule{r.name, ">*+*", r.declarations})
	}
	return []family{{"padding, a step is 4 px", padding}, {"margin", margin}, {"gap between children", gap}}
}

func layout() []family {
	display := pairs("block", "display:block", "inline-block", "display:inline-block", "inline", "display:inline", "flex", "display:flex",
		"inline-flex", "display:inline-flex", "grid", "display:grid", "hidden", "display:none")
	flex := pairs("flex-row", "flex-direction:row", "flex-col", "flex-direction:column", "flex-wrap", "flex-wrap:wrap", "flex-nowrap", "flex-wrap:nowrap",
		"flex-1", "flex:1 1 0%;min-width:0", "flex-auto", "flex:1 1 auto", "flex-none", "flex:none", "grow", "flex-grow:1", "shrink-0", "flex-shrink:0",
		"items-start", "align-items:flex-start", "items-center", "align-items:center", "items-end", "align-items:flex-end", "items-baseline", "align-items:baseline", "items-stretch", "align-items:stretch",
		"justify-start", "justify-content:flex-start", "justify-center", "justify-content:center", "justify-end", "justify-content:flex-end", "justify-between", "justify-content:space-between",
		"justify-around", "justify-content:space-around", "self-start", "align-self:flex-start", "self-center", "align-self:center", "self-end", "align-self:flex-end", "self-stretch", "align-self:stretch",
		"place-items-center", "place-items:center", "order-first", "order:-1", "order-last", "order:99")
	counts := []string{"1", "2", "3", "4", "5", "6", "7", "8", "12"}
	grid := slices.Concat(each("grid-cols-", "grid-template-columns:repeat(%s,minmax(0,1fr))", counts, same), each("col-span-", "grid-column:span %s/span %s", counts, same),
		pairs("col-span-full", "grid-column:1/-1"), each("row-span-", "grid-row:span %s/span %s", []string{"2", "3"}, same))
	return []family{{"display", display}, {"flex and alignment", flex}, {"grid", grid}}
}

func size() []family {
	lengths := []string{"0", "1", "2", "3", "4", "5", "6", "8", "10", "12", "14", "16", "20", "24", "28", "32", "36", "40", "48", "56", "64"}
	parts := map[string]string{"full": "100%", "auto": "auto", "fit": "fit-content", "1/2": "50%", "1/3": "33.333333%", "2/3": "66.666667%", "1/4": "25%", "3/4": "75%", "1/5": "20%"}
	part := func(v string) string { return parts[v] }
	width := slices.Concat(each("w-", "width:%s", lengths, length), each("w-", "width:%s", []string{"full", "auto", "fit", "1/2", "1/3", "2/3", "1/4", "3/4", "1/5"}, part), pairs("min-w-0", "min-width:0"),
		pairs("max-w-xs", "max-width:320px", "max-w-sm", "max-width:384px", "max-w-md", "max-width:448px", "max-w-lg", "max-width:512px", "max-w-xl", "max-width:576px", "max-w-full", "max-width:100%"))
	height := slices.Concat(each("h-", "height:%s", lengths, length), each("h-", "height:%s", []string{"full", "auto", "fit"}, part), each("min-h-", "min-height:%s", lengths, length), each("max-h-", "max-height:%s", lengths, length))
	square := append(each("size-", "width:%s;height:%s", lengths, length), pairs("aspect-square", "aspect-ratio:1", "aspect-video", "aspect-ratio:16/9")...)
	return []family{{"width", width}, {"height", height}, {"width and height", square}}
}

func words() []family {
	sizes := pairs("text-xs", "font-size:12px", "text-sm", "font-size:14px", "text-base", "font-size:15px", "text-lg", "font-size:18px", "text-xl", "font-size:20px;line-height:1.35",
		"text-2xl", "font-size:24px;line-height:1.3", "text-3xl", "font-size:30px;line-height:1.2", "text-4xl", "font-size:36px;line-height:1.15", "text-5xl", "font-size:48px;line-height:1.1")
	look := pairs("font-normal", "font-weight:400", "font-medium", "font-weight:500", "font-semibold", "font-weight:600", "font-bold", "font-weight:700", "font-mono", "font-family:ui-monospace,Menlo,Consolas,monospace",
		"italic", "font-style:italic", "underline", "text-decoration-line:underline", "line-through", "text-decoration-line:line-through", "uppercase", "text-transform:uppercase", "capitalize", "text-transform:capitalize",
		"tabular-nums", "font-variant-numeric:tabular-nums", "leading-none", "line-height:1", "leading-tight", "line-height:1.25", "leading-normal", "line-height:1.5", "leading-relaxed", "line-height:1.625",
		"tracking-tight", "letter-spacing:-.02em", "tracking-wide", "letter-spacing:.03em", "tracking-wider", "letter-spacing:.05em")
	place := pairs("text-left", "text-align:left", "text-center", "text-align:center", "text-right", "text-align:right", "truncate", "overflow:hidden;text-overflow:ellipsis;white-space:nowrap",
		"whitespace-nowrap", "white-space:nowrap", "whitespace-pre-wrap", "white-space:pre-wrap", "break-words", "overflow-wrap:anywhere", "break-all", "word-break:break-all",
		"list-disc", "list-style-type:disc", "list-decimal", "list-style-type:decimal", "list-none", "list-style:none;padding-left:0")
	place = append(place, each("line-clamp-", "display:-webkit-box;-webkit-box-orient:vertical;-webkit-line-clamp:%s;overflow:hidden", []string{"1", "2", "3", "4"}, same)...)
	return []family{{"size of text", sizes}, {"look of text", look}, {"place of text", place}}
}

// tokens are the host's colours.
var tokens = []string{"surface", "surface-2", "surface-3", "border", "fg", "muted", "accent", "accent-fg", "danger", "success", "warn", "series-1", "series-2", "series-3", "series-4", "series-5", "series-6"}

func token(name string) string { return "var(--" + name + ")" }

func colours() []family {
	inherited := pairs("text-current", "color:currentColor", "text-inherit", "color:inherit")
	text := append(each("text-", "color:%s", tokens, token), inherited...)
	fill := slices.Concat(each("bg-", "background-color:%s", tokens, token), pairs("bg-transparent", "background-color:transparent"),
		each("bg-", "background-color:%s", []string{"accent-soft", "danger-soft", "success-soft", "warn-soft"}, func(v string) string {
			return "color-mix(in srgb," + token(strings.TrimSuffix(v, "-soft")) + " 12%,transparent)"
		}))
	drawn := slices.Concat(each("fill-", "fill:%s", tokens, token), each("stroke-", "stroke:%s", tokens, token), pairs("fill-none", "fill:none", "fill-current", "fill:currentColor", "stroke-current", "stroke:currentColor"))
	return []family{{"colour of text", text}, {"colour behind", fill}, {"colours in SVG", drawn}}
}

func edges() []family {
	border := slices.Concat(pairs("border", "border-width:1px", "border-0", "border-width:0", "border-2", "border-width:2px", "border-4", "border-width:4px", "border-t", "border-top-width:1px", "border-r", "border-right-width:1px",
		"border-b", "border-bottom-width:1px", "border-l", "border-left-width:1px", "border-l-4", "border-left-width:4px", "border-dashed", "border-style:dashed", "border-transparent", "border-color:transparent"),
		each("border-", "border-color:%s", tokens, token), []rule{{"divide-y", ">*+*", "border-top-width:1px"}, {"divide-x", ">*+*", "border-left-width:1px"}})
	rounded := pairs("rounded-none", "border-radius:0", "rounded-sm", "border-radius:4px", "rounded", "border-radius:6px", "rounded-md", "border-radius:8px", "rounded-lg", "border-radius:10px", "rounded-xl", "border-radius:12px",
		"rounded-2xl", "border-radius:16px", "rounded-full", "border-radius:9999px")
	shade := pairs("shadow-none", "box-shadow:none", "shadow-sm", "box-shadow:0 1px 2px rgb(0 0 0/.1)", "shadow", "box-shadow:0 1px 4px rgb(0 0 0/.15)", "shadow-md", "box-shadow:0 3px 8px rgb(0 0 0/.15)", "shadow-lg", "box-shadow:0 6px 18px rgb(0 0 0/.18)",
		"opacity-0", "opacity:0", "opacity-25", "opacity:.25", "opacity-50", "opacity:.5", "opacity-75", "opacity:.75", "opacity-100", "opacity:1")
	return []family{{"border", border}, {"corners", rounded}, {"shadow, opacity", shade}}
}

func rest() []family {
	place := slices.Concat(pairs("relative", "position:relative", "absolute", "position:absolute", "sticky", "position:sticky", "inset-0", "inset:0", "z-0", "z-index:0", "z-10", "z-index:10", "z-20", "z-index:20"),
		each("top-", "top:%s", steps, length), each("right-", "right:%s", steps, length), each("bottom-", "bottom:%s", steps, length), each("left-", "left:%s", steps, length))
	other := pairs("overflow-hidden", "overflow:hidden", "overflow-auto", "overflow:auto", "overflow-x-auto", "overflow-x:auto", "overflow-y-auto", "overflow-y:auto", "object-cover", "object-fit:cover", "object-contain", "object-fit:contain",
		"cursor-pointer", "cursor:pointer", "select-none", "user-select:none", "pointer-events-none", "pointer-events:none", "transition", "transition:all .15s", "transition-all", "transition:all .15s", "transition-colors", "transition:color .15s,background-color .15s,border-color .15s",
		"sr-only", "position:absolute;width:1px;height:1px;margin:-1px;padding:0;overflow:hidden;clip-path:inset(50%);white-space:nowrap",
		"rotate-90", "transform:rotate(90deg)", "rotate-180", "transform:rotate(180deg)", "animate-spin", "animation:ui-spin 1s linear infinite", "animate-pulse", "animation:ui-pulse 2s ease-in-out infinite")
	state := []rule{{"hover:underline", ":hover", "text-decoration-line:underline"}, {"hover:opacity-75", ":hover", "opacity:.75"}, {"disabled:opacity-50", ":disabled", "opacity:.5"}}
	for _, c := range []string{"surface-2", "surface-3"} {
		state = append(state, rule{"hover:bg-" + c, ":hover", "background-color:" + token(c)})
	}
	return []family{{"place", place}, {"other", other}, {"states", state}}
}

// wider are the classes that hold from a width of the card on.
func wider(plain []family) family {
	f := family{doc: "from a width of the card on: sm is 480 px, md 720 px"}
	for _, v := range variants {
		for _, of := range plain {
			if !slices.Contains([]string{"display", "grid", "flex and alignment", "size of text", "width"}, of.doc) {
				continue
			}
			for _, r := range of.rules {
				f.rules = append(f.rules, rule{v.name + ":" + r.name, r.inside, r.declarations})
			}
		}
	}
	return f
}
