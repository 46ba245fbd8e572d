package world

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"macaron/internal/mindforge"
)

// chain asks one thing more of what there is.
func (d *Draft[S]) chain(key string) {
	var fit []Tail[S]
	for _, t := range d.rules.Tails {
		if t.From == d.kind {
			fit = append(fit, t)
		}
	}
	if len(fit) == 0 {
		d.Reject("nothing can be chained to a " + d.kind)
	}
	fit[d.Int(key+" tail", 0, len(fit)-1)].Then(d, d.answer, key)
}

// varied is a draft with the ways that change what is said of it.
type varied[S any] struct {
	m    Maker[S]
	r    recipe
	salt string
	d    *Draft[S]
}

// instruction is the request with its preferences, contradictions and data.
func (v varied[S]) instruction() string {
	text := v.d.text()
	parts := []string{}
	for _, p := range v.preferences() {
		parts = append(parts, "Note: "+p.say+".")
	}
	said, contradicted := v.contradictions(text)
	parts = append(parts, said)
	parts = append(parts, contradicted...)
	if out := strings.Join(parts, " "); v.d.data == "" {
		return out
	} else {
		return out + "\nText: " + v.d.data
	}
}

// contradictions puts a wrong word into the request, or behind it, and says which of the two
// goes: by the first such step, what was said first or what was said last.
func (v varied[S]) contradictions(text string) (said string, after []string) {
	var steps []mindforge.Step
	for _, s := range v.r.ways {
		if s.Way == mindforge.Contradict {
			steps = append(steps, s)
		}
	}
	if len(steps) == 0 {
		return text, nil
	}
	if len(v.d.slots) == 0 {
		v.d.Reject("nothing can be contradicted")
	}
	lastGoes := Draw(v.salt, fmt.Sprint("rule ", steps[0].Seed), 0, 1) == 1
	wrong := map[string]string{}
	for n, s := range steps {
		key := fmt.Sprintf("contradiction %d %d", n, s.Seed)
		sl := v.d.slots[Draw(v.salt, key, 0, len(v.d.slots)-1)]
		other := v.another(sl, key)
		if _, twice := wrong[sl.noun]; twice || !lastGoes {
			after = append(after, fmt.Sprintf("Then they said: the %s is %s.", sl.noun, other))
		}
		if _, twice := wrong[sl.noun]; !twice {
			wrong[sl.noun] = other
		}
	}
	if !lastGoes {
		return text, append(after, "Where two statements disagree, the first one goes.")
	}
	for _, sl := range v.d.slots {
		if _, ok := wrong[sl.noun]; ok {
			after = append(after, fmt.Sprintf("Then they said: the %s is %s.", sl.noun, sl.value))
		}
	}
	return v.m.draft(v.r, v.salt, v.fix(wrong)).text(), append(after, "Where two statements disagree, the last one goes.")
}

// another is a value of a slot that no slot has.
func (v varied[S]) another(s slot, key string) string {
	free := v.free(s)
	if len(free) == 0 {
		v.d.Reject("there is no other " + s.noun)
	}
	return Pick(v.salt, key+" other", free)
}

func (v varied[S]) free(s slot) []string {
	return slices.DeleteFunc(slices.Clone(s.others), func(o string) bool {
		return slices.ContainsFunc(v.d.slots, func(x slot) bool { return x.value == o })
	})
}

// fix is all slots as they are, but for some.
func (v varied[S]) fix(but map[string]string) map[string]string {
	out := map[string]string{}
	for _, s := range v.d.slots {
		out[s.noun] = s.value
		if o, ok := but[s.noun]; ok {
			out[s.noun] = o
		}
	}
	return out
}

// preference is a form of the answer that is said once, before everything else.
type preference struct {
	say           string
	before, after string
}

var preferences = []preference{
	{"in every answer here a # goes before the result", "#", ""},
	{"every answer here stands in square brackets", "[", "]"},
	{"every answer here ends with an exclamation mark", "", "!"},
	{"every answer here begins with the word got and a blank", "got ", ""},
	{"every answer here stands between two stars", "*", "*"},
	{"every answer here ends with a blank and the word ok", "", " ok"},
}

// preferences are those of the task, in order: each is about what those before it have made.
func (v varied[S]) preferences() []preference {
	var out []preference
	for n, s := range v.r.ways {
		if s.Way == mindforge.Prefer {
			p := preferences[Draw(v.salt, fmt.Sprintf("preference %d %d", n, s.Seed), 0, len(preferences)-1)]
			if len(out) > 0 {
				p.say = "after that, " + p.say
			}
			out = append(out, p)
		}
	}
	return out
}

// reply is the answer to what asks for none, once there is a preference about answers.
const reply = "done"

// preferred is the goal with the answer in the form that is preferred.
func (v varied[S]) preferred(g Goal) Goal {
	all := v.preferences()
	if len(all) > 0 && !g.Asked {
		g.Asked, g.Answer = true, reply
	}
	for _, p := range all {
		g.Answer = p.before + g.Answer + p.after
	}
	return g
}

// failing are solutions that must fail: nothing, a constant, and mistakes: another word taken
// for a slot, the last step left out, the preference forgotten, a number that is one off. Nil
// where no mistake that somebody would make fails.
func (v varied[S]) failing(t task[S]) []mindforge.Solution {
	constant := "0"
	if t.goal.Answer == constant {
		constant = "1"
	}
	out := []mindforge.Solution{{What: "empty answer"}, {What: "constant answer", Answer: constant}}
	for _, s := range out {
		if v.m.passes(t, s) {
			return nil
		}
	}
	fixed := len(out)
	for _, s := range v.mistakes(t) {
		if len(out) < 6 && !v.m.passes(t, s) {
			out = append(out, s)
		}
	}
	if len(out) == fixed {
		return nil
	}
	return out
}

func (v varied[S]) mistakes(t task[S]) []mindforge.Solution {
	out := v.misread()
	d := v.d
	if n := len(d.calls); n > 1 {
		out = append(out, mindforge.Solution{What: "the last step is left out", Calls: slices.Clone(d.calls[:n-1]), Answer: v.preferred(Goal{Asked: d.asked, Answer: d.values[n-2]}).Answer})
	}
	if len(v.preferences()) > 0 {
		answer := d.answer.Text
		if !d.asked {
			answer = reply
		}
		out = append(out, d.solution("the preference is forgotten", answer))
	}
	if whole.MatchString(d.answer.Text) && d.asked {
		near := strconv.Itoa(Whole(d.answer.Text) + 1)
		return append(out, d.solution("one too many", v.preferred(Goal{Asked: true, Answer: near}).Answer))
	}
	if r := []rune(t.goal.Answer); d.asked && len(r) > 1 {
		out = append(out, d.solution("the answer is cut short", string(r[:len(r)-1])))
	}
	return out
}

// misread builds the task with another word in a slot.
func (v varied[S]) misread() (out []mindforge.Solution) {
	for _, s := range v.d.slots {
		free := v.free(s)
		if len(free) == 0 || len(out) == 2 {
			continue
		}
		if wrong := v.tryDraft(map[string]string{s.noun: free[0]}); wrong != nil {
			answer := v.preferred(Goal{Asked: wrong.asked, Answer: wrong.answer.Text}).Answer
			out = append(out, wrong.solution("another "+s.noun+" is taken", answer))
		}
	}
	return out
}

// tryDraft is a draft with some slots changed, nil where that is no task.
func (v varied[S]) tryDraft(but map[string]string) (d *Draft[S]) {
	defer func() {
		if p := recover(); p != nil {
			if _, ok := p.(reject); !ok {
				panic(p)
			}
			d = nil
		}
	}()
	return v.m.draft(v.r, v.salt, v.fix(but))
}
