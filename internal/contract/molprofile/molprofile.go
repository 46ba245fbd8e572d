// Package molprofile turns a profile of the Mixture-of-LoRA harness for Python into a
// contract: lora.md, route.md, intro.md and summary.md of one directory. What a contract
// cannot say is reported by file and line, never dropped in silence.
package molprofile

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"macaron/internal/contract"
	"macaron/internal/disk"
	"macaron/internal/errs"
)

// maxFile bounds each file of a profile.
const maxFile = 256 << 10

// Options complete what a profile does not hold.
type Options struct {
	Name    string             // of the model, for {{MODEL_NAME}}; "": the directory's name
	Base    string             // of the base model, for {{BASE_MODEL}} and model.base
	Default string             // label for router.default; "": the first
	Quoted  bool               // route prompts in the layout of docs/formats/routing.md, for a router that knows it, and not in the profile's own
	Like    *contract.Contract // gives what profiles do not have: prompts.foreign and .tools, budgets, sampling
}

// Note is something that was not carried over as it stands.
type Note struct {
	File string `json:"file"`
	Line int    `json:"line,omitempty"` // from 1; 0: the whole file
	What string `json:"what"`
}

// profile is a directory on its way.
type profile struct {
	dir    string
	names  *strings.Replacer
	quoted bool
	notes  []Note
}

// What the harness has in its code and not in its profiles: how another specialist's turn
// stands in a view, and the bounds of the hops as it starts.
const (
	foreign       = "（前面的回合已由其他助手处理，结果摘要：{{summary}}）"
	routeTokens   = 24
	summaryTokens = 192
	answerTokens  = 131072
	requestChars  = 65536 // there is no bound there but that of a body
)

// Import reads a directory and gives the text of a contract, which contract.Parse takes.
func Import(dir string, o Options) (text []byte, notes []Note, err error) {
	if o.Name == "" {
		o.Name = filepath.Base(filepath.Clean(dir))
	}
	p := &profile{dir: dir, quoted: o.Quoted, names: strings.NewReplacer("{{MODEL_NAME}}", o.Name, "{{BASE_MODEL}}", o.Base)}
	files := map[string]string{}
	for _, name := range []string{"lora.md", "route.md", "intro.md", "summary.md"} {
		if files[name], err = p.read(name); err != nil {
			return nil, nil, err
		}
	}
	k := &contract.Contract{Name: o.Name, Prompts: contract.Prompts{
		System: p.text("intro.md", files["intro.md"]) + "{{specialist}}", Summary: p.text("summary.md", files["summary.md"]),
		Foreign: o.Like.Prompts.Foreign, Tools: o.Like.Prompts.Tools,
	}, Router: o.Like.Router, Budgets: o.Like.Budgets, Sampling: o.Like.Sampling}
	k.Model.Base = o.Base
	if k.Router.Layout = ""; !o.Quoted {
		theirs(k)
	}
	if k.Adapters, err = p.adapters(files["lora.md"]); err != nil {
		return nil, nil, err
	}
	if k.Prompts.Route, k.Router.Stem, err = p.route(files["route.md"]); err != nil {
		return nil, nil, err
	}
	k.Router.Adapter, k.Router.Default, k.Router.Order = k.Adapters[0].Name, o.Default, k.Labels()
	if o.Default == "" {
		k.Router.Default = k.Adapters[0].Name
	}
	if o.Quoted {
		p.note("intro.md", 0, "here it stands before the client's system text, there after it")
	} else {
		p.note("route.md", 0, "the text of a request is clipped to %d characters, which it is not there", k.Router.RequestChars)
	}
	text = write(k)
	_, err = contract.ParseFile(dir, text)
	return text, p.notes, err
}

// theirs makes the prompts those that the harness builds.
func theirs(k *contract.Contract) {
	zero := 0.0
	k.Prompts.System, k.Prompts.Foreign = "{{client}}\n\n"+k.Prompts.System, foreign
	k.Router.Layout, k.Router.RequestChars, k.Router.Overlay, k.Router.Summaries = contract.LayoutMol, requestChars, false, 0
	k.Budgets.RouteTokens, k.Budgets.SummaryTokens, k.Budgets.AnswerTokens = routeTokens, summaryTokens, answerTokens
	k.Sampling = contract.Sampling{Temperature: &zero}
}

func (p *profile) note(file string, line int, format string, args ...any) {
	p.notes = append(p.notes, Note{file, line, fmt.Sprintf(format, args...)})
}

func (p *profile) read(name string) (string, error) {
	path := filepath.Join(p.dir, name)
	f, err := os.Open(path)
	if err != nil {
		return "", disk.OpenError(err, path+" cannot be opened", "name the directory that has lora.md, route.md, intro.md and summary.md")
	}
	defer f.Close() // read-only
	b, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	switch {
	case err != nil:
		return "", disk.Error(err, path+" cannot be read")
	case len(b) > maxFile:
		return "", errs.Newf(errs.TooLarge, "%s is larger than %d bytes", path, maxFile)
	case strings.TrimSpace(string(b)) == "":
		return "", errs.New(errs.FormatInvalid, path+" is empty", "")
	}
	return strings.ReplaceAll(string(b), "\r\n", "\n"), nil
}

var hole = regexp.MustCompile(`\{\{[^{}]*\}\}`)

// text fills in the names and reports placeholders that nobody fills.
func (p *profile) text(file, s string, known ...string) string {
	s = p.names.Replace(s)
	for i, line := range strings.Split(s, "\n") {
		for _, h := range hole.FindAllString(line, -1) {
			if !strings.Contains(strings.Join(known, " "), h) {
				p.note(file, i+1, "%s is nothing that is filled in; it stays as it is", h)
			}
		}
	}
	return strings.TrimSpace(s)
}

// route makes prompts.route, whose placeholders get our names, and router.stem: the last line
// if the label continues it. Where the label is a message of its own there is none.
func (p *profile) route(s string) (text, stem string, err error) {
	const adapters, labels = "{{LORA_DESCRIPTIONS}}", "{{ROUTE_LABELS}}"
	if !strings.Contains(s, adapters) || !strings.Contains(s, labels) {
		return "", "", errs.New(errs.FormatInvalid, "route.md must contain "+adapters+" and "+labels, "")
	}
	lines := strings.Split(s, "\n")
	last := len(lines) - 1
	for last > 0 && strings.TrimSpace(lines[last]) == "" {
		last--
	}
	for i, line := range lines {
		low := strings.ToLower(line)
		if p.quoted && strings.Contains(low, "above") {
			p.note("route.md", i+1, "it says \"above\", but here the request comes after the instruction; write \"below\" or \"quoted\"")
		}
		if strings.Contains(low, "default") {
			p.note("route.md", i+1, "it tells of a default in words; the one that is taken when routing fails is router.default: see --default")
		}
	}
	if stem = strings.TrimSpace(lines[last]); !strings.HasSuffix(stem, "=") {
		stem = ""
	} else if lines = lines[:last]; p.quoted {
		p.note("route.md", last+1, "%q, which the answer continued there, is left out: here the answer is a message of its own", stem)
		stem = ""
	}
	s = p.text("route.md", strings.Join(lines, "\n"), adapters, labels)
	return strings.NewReplacer(adapters, "{{adapters}}", labels, "{{order}}").Replace(s), stem, nil
}
