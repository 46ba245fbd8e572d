package ui4a

import (
	"fmt"
	"slices"
	"strings"

	words "macaron/internal/ui4a"
)

// Bounds of a card's first layer.
const (
	mostTaskMS = 500
	mostNodes  = 3000
	leastChars = 20
)

// importCodes are the compiler's findings about what a card imports.
var importCodes = []string{"unknown-export", "import-forbidden", "missing-import"}

func (e Evidence) renderChecks() []Check {
	var broken, imports []string
	for _, d := range e.Findings {
		switch {
		case d.Severity != words.Error:
		case slices.ContainsFunc(importCodes, func(c string) bool { return d.Code == c }):
			imports = append(imports, d.String())
		default:
			broken = append(broken, d.String())
		}
	}
	if !e.Compiled && len(broken)+len(imports) == 0 {
		broken = append(broken, e.Failure)
	}
	return []Check{
		check("compiles", 30, finding("the source compiles", e.Source != "" && len(broken) == 0, first(broken))),
		check("imports", 10, finding("only what there is is imported", e.Source != "" && len(imports) == 0, first(imports))),
		check("mounts", 25, finding("it mounts without an error", e.Mounted, e.Failure)),
		check("not blank", 15, finding(fmt.Sprintf("something is seen: %d characters or a picture", leastChars), e.shown(),
			fmt.Sprintf("%d elements, %d characters, %d pictures", e.Layout.Shown, e.Layout.Chars, e.Layout.Graphics))),
		check("silent", 10, e.silence()...),
		check("stable", 10,
			finding("a second mount is the same", e.Mounted && e.Again == e.Start.Hash, ""),
			finding(fmt.Sprintf("fewer than %d elements", mostNodes), e.Mounted && e.Layout.Nodes < mostNodes, fmt.Sprintf("%d", e.Layout.Nodes)),
			finding(fmt.Sprintf("mounting takes less than %d ms of the processor", mostTaskMS), e.Mounted && e.TaskMS < mostTaskMS, fmt.Sprintf("%.0f ms", e.TaskMS))),
	}
}

// shown: there is a card, and something to see of it.
func (e Evidence) shown() bool {
	return e.Mounted && e.Layout.Shown > 0 && (e.Layout.Chars >= leastChars || e.Layout.Graphics > 0)
}

// silence: one finding for each way to complain.
func (e Evidence) silence() []Finding {
	said := map[string][]string{}
	for _, x := range e.Events {
		kind := x.Kind
		if kind == "exception" && strings.Contains(x.Text, "(in promise)") {
			kind = "rejection"
		}
		said[kind] = append(said[kind], x.Text)
	}
	var found []Finding
	for _, kind := range []string{"error", "exception", "rejection", "policy"} {
		found = append(found, finding(silenceNames[kind], e.Mounted && len(said[kind]) == 0, first(said[kind])))
	}
	return found
}

var silenceNames = map[string]string{
	"error": "no console.error", "exception": "no uncaught exception", "rejection": "no unhandled rejection", "policy": "no violation of the content policy",
}

func first(list []string) string {
	if len(list) == 0 {
		return ""
	}
	return list[0]
}
