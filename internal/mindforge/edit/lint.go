package edit

import (
	"context"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"macaron/internal/errs"
	"macaron/internal/mindforge"
	"macaron/internal/mint/filter"
)

// Rule names what a lint looks for.
type Rule string

// The rules. All but Tuned and Shrunk are reasons to refuse.
const (
	Unknown   Rule = "unknown"   // no kind, component or value of the catalogue
	TaskID    Rule = "task-id"   // the name of a task, a world's family with a level or seed
	Canaried  Rule = "canary"    // a string that is in one task and nowhere else
	Answered  Rule = "answer"    // the answer of a task, written in any usual way
	Copied    Rule = "copied"    // a run of words, or most words, of a task
	Homograph Rule = "homograph" // letters that look like others, or that nobody sees
	Secret    Rule = "secret"    // a key, a password, somebody's address
	Long      Rule = "long"      // more than the kind takes
	Machinery Rule = "machinery" // a word of the evaluation: its files, its rewards, its detectors
	Tuned     Rule = "tuning"    // numbers alone: a label
	Shrunk    Rule = "shrunk"    // the texts have become less than half: an alarm
)

// Finding is what a lint found. Detail quotes nothing of a task.
type Finding struct {
	Rule   Rule   `json:"rule"`
	Edit   int    `json:"edit"` // its number, from 0; -1: the edits together
	Detail string `json:"detail"`
}

// Refuses reports whether a candidate with the finding goes no further.
func (f Finding) Refuses() bool { return f.Rule != Tuned && f.Rule != Shrunk }

const (
	gramWords   = 6 // of a run that two texts share
	leastAnswer = 4 // runes of an answer that is looked for: a shorter one is anybody's word
)

// Guard knows tasks that no value may tell anything of. The evaluator makes one of the sealed
// tasks too, in its own process; the loop has one of the tasks that it may see.
type Guard struct {
	catalogue *Catalogue
	ids       map[string]bool // folded
	canaries  []string
	answers   map[string]bool
	texts     *filter.Index
}

// NewGuard makes a guard. Common words, those that the catalogue itself uses, are no answers.
func NewGuard(c *Catalogue, tasks []mindforge.Task) (*Guard, error) {
	g := &Guard{catalogue: c, ids: map[string]bool{}, answers: map[string]bool{}}
	own := map[string]bool{}
	for _, e := range c.edits {
		for _, w := range tokens(folded(e.Value)) {
			own[w] = true
		}
	}
	var items []string
	for _, t := range tasks {
		g.ids[folded(t.ID)] = true
		if t.Canary != "" {
			g.canaries = append(g.canaries, folded(t.Canary))
		}
		if a := folded(strings.TrimSpace(t.Judged.Solution.Answer)); utf8.RuneCountInString(a) >= leastAnswer && !own[a] {
			g.answers[a] = true
		}
		items = append(items, t.Instruction)
	}
	var err error
	g.texts, err = filter.NewIndex(context.Background(), []filter.EvalSet{{Name: "tasks", Items: items}}, gramWords, nil)
	return g, err
}

// Lint looks at the edits of a candidate. free: a model may have written values.
func (g *Guard) Lint(edits []mindforge.Edit, free bool) []Finding {
	var out []Finding
	for i, e := range edits {
		add := func(r Rule, detail string) { out = append(out, Finding{r, i, detail}) }
		g.bounds(e, free, add)
		if k, err := kindOf(e.Kind); err == nil && utf8.RuneCountInString(e.Value) > k.Most {
			continue // refused already, and nothing reads a value of any length
		}
		g.told(e.Component+"\n"+e.Value, add)
		if !g.catalogue.Lists(e) {
			g.copied(e.Value, add)
		}
	}
	if Tuning(edits) {
		out = append(out, Finding{Tuned, -1, "the edits change numbers and nothing else"})
	}
	return out
}

// Tells looks for what a text may tell of a task, wherever the text is from.
func (g *Guard) Tells(text string) []Finding {
	var out []Finding
	add := func(r Rule, detail string) { out = append(out, Finding{r, -1, detail}) }
	g.told(text, add)
	g.copied(text, add)
	return out
}

func (g *Guard) bounds(e mindforge.Edit, free bool, add func(Rule, string)) {
	if k, err := kindOf(e.Kind); err == nil && utf8.RuneCountInString(e.Value) > k.Most {
		add(Long, "the value is longer than its kind takes")
		return
	}
	if err := g.catalogue.Admit(e, free); err != nil {
		add(Unknown, errs.As(err).Message)
	}
}

var (
	// named is a world and family with a level and a seed, whichever task it is.
	named = regexp.MustCompile(`\b[a-z][a-z0-9_-]*/[a-z][a-z0-9_.-]*/\d+/\d+`)
	// machinery are words that no instruction of an agent needs.
	machinery = regexp.MustCompile(`reward\.(txt|json)|/tests?/|\bverifier|\bevaluator|\bsealed\b|\bcanar(y|ies)\b|answer[ _-]?key|ground[ _-]?truth|\bgold(en)? (answer|label)|task[ _-]?id|__globals__|__closure__|\bgetsource\b`)
)

// told looks for what a value may tell of a task.
func (g *Guard) told(value string, add func(Rule, string)) {
	if w := dressed(value); w != "" {
		add(Homograph, errs.Clip(w))
	}
	if len(filter.Find(value, []string{"secret", "email"})) > 0 {
		add(Secret, "something with the form of a key, a password or an address")
	}
	seen := map[Rule]bool{}
	once := func(r Rule, detail string) {
		if !seen[r] {
			seen[r] = true
			add(r, detail)
		}
	}
	for _, s := range readings(value) {
		g.read(s, once)
	}
}

// read looks at one reading of a value.
func (g *Guard) read(s string, add func(Rule, string)) {
	if named.MatchString(s) {
		add(TaskID, "something with the form of a task's name")
	}
	for id := range g.ids {
		if id != "" && strings.Contains(s, id) {
			add(TaskID, "the name of a task")
		}
	}
	for _, c := range g.canaries {
		if strings.Contains(s, c) {
			add(Canaried, "a string that only one task has")
		}
	}
	if machinery.MatchString(s) {
		add(Machinery, "a word of the evaluation")
	}
	for _, w := range tokens(s) {
		if g.answers[w] {
			add(Answered, "the answer of a task")
		}
	}
	for a := range g.answers {
		if strings.ContainsFunc(a, func(r rune) bool { return !inToken(r) }) && strings.Contains(s, a) {
			add(Answered, "the answer of a task")
		}
	}
}

func (g *Guard) copied(value string, add func(Rule, string)) {
	if c, ok := g.texts.Check(value); ok {
		add(Copied, "shares words with a task ("+c.How+")")
	}
}

func inToken(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) || r == '-' || r == '_' }

func tokens(s string) []string {
	return strings.FieldsFunc(s, func(r rune) bool { return !inToken(r) })
}
