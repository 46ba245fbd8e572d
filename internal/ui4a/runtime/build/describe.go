package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"macaron/internal/ui4a/library"
)

// moduleOrder are the modules in the order in which they are taught.
var moduleOrder = []string{"ui", "charts", "icons", "state", "chat", "katex", "react"}

// describe gives library.json for the sources below src. It reads the narrow style in
// which they are written, and refuses what does not keep to it: a module's index.ts
// begins with a line of comment and names its files, an export has one line of doc
// comment, a prop stands on one line.
func describe(src string) ([]byte, error) {
	colours, err := palette(src)
	if err != nil {
		return nil, err
	}
	t := library.Table{Classes: classes(), Tokens: colours}
	for _, name := range moduleOrder {
		m, err := module(src, name)
		if err != nil {
			return nil, err
		}
		if len(m.Exports) > 0 {
			t.Modules = append(t.Modules, m)
		}
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", " ")
	err = e.Encode(t)
	return b.Bytes(), err
}

var colour = regexp.MustCompile(`(?m)^  --([\w-]+): light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\);$`)

// palette reads the colours of cards. Where the stylesheets do not lie there are none.
func palette(src string) (map[string][]string, error) {
	text, err := os.ReadFile(filepath.Join(src, "style", "tokens.css"))
	if os.IsNotExist(err) {
		return nil, nil
	}
	all := map[string][]string{}
	for _, m := range colour.FindAllStringSubmatch(string(text), -1) {
		all[m[1]] = m[2:4]
	}
	return all, err
}

var (
	fromFile = regexp.MustCompile(`(?m)^export (?:\*|\{[^}]*\}) from "\./([\w-]+)";$`)
	// A package's own names are passed on as they are.
	fromPackage = regexp.MustCompile(`(?m)^export \{([^}]*)\} from "[\w-]+";$`)
	word        = regexp.MustCompile(`\w+`)

	component = regexp.MustCompile(`(?m)^/\*\* (.+) \*/\nexport function ([A-Z]\w*)\(`)
	function  = regexp.MustCompile(`(?m)^/\*\* (.+) \*/\nexport function ([a-z]\w*)((?:<[^(]*>)?\(.*\)(?:: .+)?) \{$`)
	exported  = regexp.MustCompile(`(?m)^export (?:function|const|let|class) (\w+)`)
	shape     = regexp.MustCompile(`(?ms)^export interface (\w+)Props(?: extends (\w+)Props)? \{\n(.*?)^\}`)
	prop      = regexp.MustCompile(`^  "?([\w-]+)"?(\?)?: (.+);$`)
	propDoc   = regexp.MustCompile(`^  /\*\* (.+) \*/$`)
	literal   = regexp.MustCompile(`^"([^"]*)"$`)
)

// module reads one directory; one that is not there has no exports.
func module(src, name string) (library.Module, error) {
	m := library.Module{Name: "$ui4a/" + name}
	if name == "react" {
		m.Name = name
	}
	index, err := os.ReadFile(filepath.Join(src, name, "index.ts"))
	if os.IsNotExist(err) {
		return m, nil
	}
	if err != nil {
		return m, err
	}
	first, _, _ := strings.Cut(string(index), "\n")
	if m.Doc = strings.TrimPrefix(first, "// "); m.Doc == first {
		return m, fmt.Errorf("%s/index.ts: the first line is no comment that says what the module is", name)
	}
	for _, list := range fromPackage.FindAllStringSubmatch(string(index), -1) {
		for _, n := range word.FindAllString(list[1], -1) {
			m.Exports = append(m.Exports, library.Export{Name: n, Kind: library.Foreign})
		}
	}
	for _, file := range fromFile.FindAllStringSubmatch(string(index), -1) {
		exports, err := exports(filepath.Join(src, name), file[1])
		if err != nil {
			return m, err
		}
		m.Exports = append(m.Exports, exports...)
	}
	return m, nil
}

func exports(dir, file string) ([]library.Export, error) {
	text, err := os.ReadFile(filepath.Join(dir, file+".tsx"))
	if os.IsNotExist(err) {
		text, err = os.ReadFile(filepath.Join(dir, file+".ts"))
	}
	if err != nil {
		return nil, err
	}
	shapes, err := shapes(string(text))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	var all []library.Export
	for _, c := range component.FindAllStringSubmatch(string(text), -1) {
		props, ok := shapes[c[2]]
		if !ok {
			return nil, fmt.Errorf("%s: %s has no interface %sProps", file, c[2], c[2])
		}
		all = append(all, library.Export{Name: c[2], Kind: library.Component, Doc: c[1], Props: props})
	}
	for _, f := range function.FindAllStringSubmatch(string(text), -1) {
		all = append(all, library.Export{Name: f[2], Kind: library.Function, Doc: f[1], Signature: f[3]})
	}
	for _, i := range glyph.FindAllStringSubmatch(string(text), -1) {
		all = append(all, library.Export{Name: i[1], Kind: library.Icon})
	}
	for _, e := range exported.FindAllStringSubmatch(string(text), -1) {
		if !slices.ContainsFunc(all, func(x library.Export) bool { return x.Name == e[1] }) {
			return nil, fmt.Errorf("%s: %s is exported without a line of doc comment, or in another style", file, e[1])
		}
	}
	return all, nil
}

// shapes gives the props of each interface NAMEProps of a file, those that it extends
// last.
func shapes(text string) (map[string][]library.Prop, error) {
	all := map[string][]library.Prop{}
	for _, m := range shape.FindAllStringSubmatch(text, -1) {
		props, err := props(m[3])
		if err != nil {
			return nil, fmt.Errorf("%sProps: %w", m[1], err)
		}
		if m[2] != "" {
			props = append(props, all[m[2]]...)
		}
		all[m[1]] = props
	}
	return all, nil
}

func props(body string) ([]library.Prop, error) {
	var all []library.Prop
	doc := ""
	for line := range strings.Lines(body) {
		line = strings.TrimRight(line, "\n")
		if d := propDoc.FindStringSubmatch(line); d != nil {
			doc = d[1]
			continue
		}
		p := prop.FindStringSubmatch(line)
		if p == nil {
			return nil, fmt.Errorf("%q is neither a prop nor its doc comment", line)
		}
		all = append(all, library.Prop{Name: p[1], Type: p[3], Values: values(p[3]), Required: p[2] == "", Doc: doc})
		doc = ""
	}
	return all, nil
}

// values gives the strings of a union of string literals, nothing for another type.
func values(typ string) []string {
	var all []string
	for part := range strings.SplitSeq(typ, " | ") {
		m := literal.FindStringSubmatch(part)
		if m == nil {
			return nil
		}
		all = append(all, m[1])
	}
	return all
}

// glyph is how an icon is made.
var glyph = regexp.MustCompile(`(?m)^export const (\w+) = icon\("`)
