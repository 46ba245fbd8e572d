package scripted

import (
	_ "embed" // the contract that planted problems begin with
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"macaron/internal/contract"
	"macaron/internal/mindforge"
	"macaron/internal/mindforge/edit"
)

//go:embed base.toml
var base []byte

// Problem is a search of which the truth is known.
type Problem struct {
	Policy    *Policy
	Catalogue *edit.Catalogue
	Base      mindforge.Pair
	Improving []mindforge.Edit // each raises the true rate, alone or with its partner
	Null      []mindforge.Edit // none changes it
	Harmful   []mindforge.Edit // each lowers it
}

// Plan is how much is planted.
type Plan struct {
	Families     int
	Lines        int // improving lines of the prompt
	Interactions int // pairs of lines of which the second helps beside the first alone
	Null, Harm   int // lines
	Gain         float64
	Share        float64 // of the families that an improving line helps
}

// DefaultPlan is a problem of 10 improving edits among 44.
var DefaultPlan = Plan{Families: 20, Lines: 3, Interactions: 1, Null: 18, Harm: 8, Gain: 1.5, Share: 0.5}

// Plant makes a problem: which line does what, and for whom, follows from the seed. Two tools,
// a budget of turns, a gate and a skill are planted beside the lines, with the budgets and
// temperatures that do nothing or harm.
func Plant(seed uint64, plan Plan) (*Problem, error) {
	r := rand.New(rand.NewPCG(seed, 0x706c616e))
	p := &Problem{Policy: &Policy{Families: map[string]Family{}, Spread: 1, Salt: fmt.Sprint("planted ", seed)}}
	families := make([]string, plan.Families)
	for i := range families {
		families[i] = fmt.Sprintf("f%02d", i)
		p.Policy.Families[families[i]] = Family{Base: -1.5 + 0.5*r.NormFloat64(), Turns: 2}
	}
	c, err := contract.Parse(base)
	if err != nil {
		return nil, err
	}
	p.Base = mindforge.Pair{Contract: c} // with the base skill
	w := &writer{}
	p.needs(r, families, w)
	p.lines(r, families, plan, w)
	if p.Catalogue, err = edit.Parse([]byte(w.String())); err != nil {
		return nil, err
	}
	return p, nil
}

// needs plants what a family cannot do without, and gates and skills.
func (p *Problem) needs(r *rand.Rand, families []string, w *writer) {
	order := r.Perm(len(families))
	part := max(1, len(families)/6)
	take := func() []string {
		var out []string
		for _, i := range order[:part] {
			out = append(out, families[i])
		}
		order = order[part:]
		return out
	}
	for _, name := range []string{"lookup", "convert"} {
		for _, f := range take() {
			fam := p.Policy.Families[f]
			fam.Tools, fam.Base = []string{name}, fam.Base+1.5
			p.Policy.Families[f] = fam
		}
		p.Improving = append(p.Improving, w.add("tool.add", "tools."+name, `{use = "builtin:files.read", description = "`+name+`"}`, "use = 'builtin:files.read'\ndescription = '"+name+"'", "missing-tool"))
	}
	for _, f := range take() {
		fam := p.Policy.Families[f]
		fam.Turns, fam.Base = 6, fam.Base+1.5
		p.Policy.Families[f] = fam
	}
	p.Improving = append(p.Improving, w.add("budget.set", "agent.max_turns", "8", "8", "budget"))
	p.Harmful = append(p.Harmful, w.add("budget.set", "agent.max_turns", "1", "1", "budget"))
	gate := w.add("hook.add", "hooks.word", `{on = "stop", check = "answer.present", max_rounds = 2}`, "on = 'stop'", "format")
	skill := w.add("skill.add", "skills.plan", `{description = "how", text = "first, then"}`, "description = 'how'", "capability")
	p.effect(r, families, 0.5, 1.5, mindforge.Format, gate)
	p.effect(r, families, 0.5, 1.5, mindforge.Capability, skill)
	p.Improving = append(p.Improving, gate, skill)
	for _, x := range []struct{ component, value string }{{"agent.step_tokens", "32"}, {"agent.step_tokens", "64"}, {"agent.result_chars", "200"}, {"agent.max_tool_calls", "9"}} {
		p.Null = append(p.Null, w.add("budget.set", x.component, x.value, x.value, "budget"))
	}
	hot := w.add("sampling.set", "sampling.temperature", "1.5", "1.5", "")
	p.Harmful, p.Null = append(p.Harmful, hot), append(p.Null, w.add("sampling.set", "sampling.temperature", "0.2", "0.2", ""))
	p.effect(r, families, 1, -1.5, "", hot)
}

// lines plants lines of the prompt.
func (p *Problem) lines(r *rand.Rand, families []string, plan Plan, w *writer) {
	classes := []mindforge.Failure{mindforge.Format, mindforge.Capability, mindforge.Contradiction}
	n := plan.Lines + 2*plan.Interactions + plan.Null + plan.Harm
	names := r.Perm(n) // so that a name tells nothing
	next := func(answers mindforge.Failure) mindforge.Edit {
		id := fmt.Sprintf("line-%02d", names[0])
		names = names[1:]
		return w.add("prompt.append", "agent.prompts.system#"+id, `"Words of `+id+`."`, "Words of "+id+".", string(answers))
	}
	for i := range plan.Lines {
		e := next(classes[i%len(classes)])
		p.effect(r, families, plan.Share, plan.Gain, classes[i%len(classes)], e)
		p.Improving = append(p.Improving, e)
	}
	for i := range plan.Interactions {
		a, b := next(classes[i%len(classes)]), next(classes[i%len(classes)])
		p.effect(r, families, plan.Share, 0.5, classes[i%len(classes)], a)
		p.effect(r, families, plan.Share, plan.Gain+0.5, classes[i%len(classes)], a, b)
		p.Improving = append(p.Improving, a, b)
	}
	for i := range plan.Null {
		p.Null = append(p.Null, next(classes[i%len(classes)]))
	}
	for i := range plan.Harm {
		e := next(classes[i%len(classes)])
		p.effect(r, families, plan.Share, -plan.Gain, "", e)
		p.Harmful = append(p.Harmful, e)
	}
}

// effect plants what edits do together, for a share of the families.
func (p *Problem) effect(r *rand.Rand, families []string, share, gain float64, shows mindforge.Failure, edits ...mindforge.Edit) {
	e := Effect{Gain: gain, Shows: shows}
	for _, x := range edits {
		e.Features = append(e.Features, FeatureOf(x))
	}
	for _, i := range r.Perm(len(families))[:max(1, int(share*float64(len(families))))] {
		e.Families = append(e.Families, families[i])
	}
	p.Policy.Effects = append(p.Policy.Effects, e)
}

// Recall is the share of the improving edits that a contract has.
func (p *Problem) Recall(c *contract.Contract) float64 { return share(p.Improving, c) }

// Harm is the share of the harmful ones.
func (p *Problem) Harm(c *contract.Contract) float64 { return share(p.Harmful, c) }

func share(edits []mindforge.Edit, c *contract.Contract) float64 {
	n := 0
	for _, e := range edits {
		if FeatureOf(e).In(c) {
			n++
		}
	}
	return float64(n) / float64(max(1, len(edits)))
}

// writer writes a catalogue, one choice for each component.
type writer struct {
	order  []string
	values map[string][]string
	heads  map[string]string
}

// add writes one more value, and gives the edit by which its feature is known: what stands in
// an entry of a list does not matter to that, only that it is there.
func (w *writer) add(kind, component, toml, value, answers string) mindforge.Edit {
	if w.values == nil {
		w.values, w.heads = map[string][]string{}, map[string]string{}
	}
	if !slices.Contains(w.order, component) {
		w.order = append(w.order, component)
		list := ""
		if answers != "" {
			list = `"` + answers + `"`
		}
		w.heads[component] = fmt.Sprintf("[[edits]]\nid = \"e%d\"\nabout = \"planted\"\nkind = %q\ncomponent = %q\ntouches = [\"score\"]\nanswers = [%s]\n", len(w.order), kind, component, list)
	}
	w.values[component] = append(w.values[component], toml)
	return mindforge.Edit{Kind: kind, Component: component, Value: value}
}

// String is the catalogue.
func (w *writer) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "schema = %q\nname = \"planted\"\nversion = \"1\"\n", edit.Schema)
	for _, c := range slices.Sorted(slices.Values(w.order)) {
		fmt.Fprintf(&b, "%svalues = [%s]\n", w.heads[c], strings.Join(w.values[c], ", "))
	}
	return b.String()
}
