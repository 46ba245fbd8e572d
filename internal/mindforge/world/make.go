package world

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"sort"
	"strings"

	"macaron/internal/canonical"
	"macaron/internal/errs"
	"macaron/internal/mindforge"
)

// Maker is a world made of rules.
type Maker[S any] struct{ rules *Rules[S] }

// New makes the world of some rules.
func New[S any](r Rules[S]) Maker[S] { return Maker[S]{&r} }

// Name implements mindforge.World.
func (m Maker[S]) Name() string { return m.rules.Name }

// Families implements mindforge.World.
func (m Maker[S]) Families() []string {
	out := make([]string, len(m.rules.Families))
	for i, f := range m.rules.Families {
		out[i] = f.Name
	}
	return out
}

// Tools implements World.
func (m Maker[S]) Tools() []ToolDoc {
	out := make([]ToolDoc, len(m.rules.Functions))
	for i, f := range m.rules.Functions {
		out[i] = ToolDoc{f.Name, f.About, string(f.Effect)}
	}
	return out
}

// Make implements mindforge.World.
func (m Maker[S]) Make(family string, level int, seed uint64) (mindforge.Task, error) {
	t, err := m.made(recipe{family: family, level: level, seed: seed})
	return t.Task, err
}

// Harder implements mindforge.World.
func (m Maker[S]) Harder(t mindforge.Task, way mindforge.Way, seed uint64) (mindforge.Task, error) {
	r := recipe{t.Family, t.Level, t.Seed, append(slices.Clone(t.Ways), mindforge.Step{Way: way, Seed: seed})}
	out, err := m.made(r)
	return out.Task, err
}

// task is a task with what it is opened with.
type task[S any] struct {
	mindforge.Task
	begin   S
	offered []Function[S]
	goal    Goal
}

// tries bounds how often a task is drawn before its family is at fault.
const tries = 200

// made draws a task until its draws make a good one.
func (m Maker[S]) made(r recipe) (task[S], error) {
	if err := r.check(m.Families()); err != nil {
		return task[S]{}, err
	}
	var why string
	for try := range tries {
		t, no := m.attempt(r, try)
		if no == nil {
			return t, nil
		}
		why = no.why
	}
	id := ID(m.rules.Name, r.family, r.level, r.seed, r.ways)
	return task[S]{}, errs.New(errs.Internal, "no good task was drawn of "+errs.Clip(id)+": "+errs.Clip(why), "choose another seed")
}

// attempt builds a task from one draw. A rejected one is no task.
func (m Maker[S]) attempt(r recipe, try int) (t task[S], no *reject) {
	defer func() {
		if p := recover(); p != nil {
			told, ok := p.(reject)
			if !ok {
				panic(p)
			}
			no = &told
		}
	}()
	salt := r.salt(m.rules.Name, try)
	d := m.draft(r, salt, nil)
	t = task[S]{begin: d.begin, goal: m.goal(d)}
	v := varied[S]{m, r, salt, d}
	t.Task = mindforge.Task{
		ID: ID(m.rules.Name, r.family, r.level, r.seed, r.ways), World: m.rules.Name, Family: r.family, Level: r.level, Seed: r.seed, Ways: r.ways,
		Instruction: v.instruction(), Answer: m.rules.Formats[d.kind], Shape: d.shape(),
	}
	t.Canary = Canary(t.ID)
	t.goal = v.preferred(t.goal)
	t.offered = m.offered(salt, d.Scale, d.calls)
	t.Judged = mindforge.Judgment{Spec: Verifier{Goal: t.goal, Data: d.data}.spec(), Solution: d.solution("the reference solution", cmp.Or(t.goal.Answer, reply)), Stated: d.data != ""}
	if t.Judged.Failing = v.failing(t); t.Judged.Failing == nil {
		d.Reject("no plausible mistake fails")
	}
	if !m.passes(t, t.Judged.Solution) {
		d.Reject("the reference solution does not pass")
	}
	if Leaks(t.Instruction, d.data, t.goal.Answer) {
		d.Reject("the request has its answer in it")
	}
	return t, nil
}

// draft builds a family with the slots that are given, and what its level and ways chain.
func (m Maker[S]) draft(r recipe, salt string, fixed map[string]string) *Draft[S] {
	scale := r.level + r.count(mindforge.Lift)
	d := &Draft[S]{Scale: scale, rules: m.rules, salt: salt, fixed: fixed, State: m.rules.Begin(salt, scale)}
	for _, f := range m.rules.Families {
		if f.Name == r.family {
			f.Build(d)
		}
	}
	for n := range r.level / 2 {
		d.chain(fmt.Sprintf("level %d", n))
	}
	n := 0
	for _, s := range r.ways {
		if s.Way == mindforge.Chain {
			n++
			d.chain(fmt.Sprintf("chain %d %d", n, s.Seed))
		}
	}
	if len(d.calls) == 0 {
		d.Reject("nothing is to be done")
	}
	return d
}

// goal is what the draft comes to.
func (m Maker[S]) goal(d *Draft[S]) Goal {
	g := Goal{Asked: d.asked}
	if d.asked {
		g.Answer = d.answer.Text
	}
	if m.rules.Files == nil {
		return g
	}
	was, is := m.rules.Files(d.begin), m.rules.Files(d.State)
	g.Files = is
	for _, name := range sorted(was) {
		if _, ok := is[name]; !ok {
			g.Gone = append(g.Gone, name)
		}
	}
	return g
}

// passes rehearses a solution in memory.
func (m Maker[S]) passes(t task[S], s mindforge.Solution) bool {
	at := m.rules.Copy(t.begin)
	if _, err := play(s, func(name string, args map[string]string) (string, error) {
		return m.rules.function(name).call(at, args)
	}); err != nil {
		return false
	}
	var files map[string]string
	if m.rules.Files != nil {
		files = m.rules.Files(at)
	}
	return t.goal.Judge(s.Answer, files).Points == 1
}

// offered are the tools of a task: those of its solution, and others that are drawn, by name.
func (m Maker[S]) offered(salt string, scale int, calls []mindforge.Call) []Function[S] {
	need, names := map[string]bool{}, []string{}
	for _, c := range calls {
		need[c.Tool] = true
	}
	for _, f := range m.rules.Functions {
		if !need[f.Name] {
			names = append(names, f.Name)
		}
	}
	for _, name := range Shuffle(salt, "distractors", names)[:min(1+scale, len(names))] {
		need[name] = true
	}
	var out []Function[S]
	for _, f := range m.rules.Functions {
		if need[f.Name] {
			out = append(out, f)
		}
	}
	sort.Slice(out, func(i, j int) bool { return out[i].Name < out[j].Name })
	return out
}

// Verifier is the part of a task's Spec that the worlds write.
type Verifier struct {
	Goal Goal   `json:"goal"`
	Data string `json:"data,omitempty"` // quoted in the request: an answer may be in it
	Free *Free  `json:"free,omitempty"` // what a task that has no family is opened with
}

func (v Verifier) spec() json.RawMessage {
	raw, err := canonical.Bytes(v)
	if err != nil {
		panic(err) // texts and lists have a form
	}
	return raw
}

// Leaks reports whether a request has its answer in it, as words, outside of the data that
// it quotes.
func Leaks(instruction, data, answer string) bool {
	if data != "" {
		instruction = strings.ReplaceAll(instruction, data, "")
	}
	fold := func(s string) string {
		words := strings.FieldsFunc(strings.ToLower(s), apart)
		for i := range words {
			words[i] = strings.TrimRight(words[i], ".") // of a sentence, not of a number or a name
		}
		return " " + strings.Join(words, " ") + " "
	}
	a := fold(answer)
	return strings.TrimSpace(a) != "" && strings.Contains(fold(instruction), a)
}

// apart: what is between words. The marks of numbers and file names are not.
func apart(r rune) bool { return strings.ContainsRune(" \t\r\n,;:!?\"'()[]{}<>", r) }

func sorted[V any](m map[string]V) []string {
	out := make([]string, 0, len(m))
	for k := range m {
		out = append(out, k)
	}
	sort.Strings(out)
	return out
}
