// Package scripted has a policy of known skill, and proposers of known honesty: search, gates
// and rollback are held to what is true of them, without a model. How often a family passes
// depends on what a contract gives (tools, lines of its prompts, gates, skills, budgets,
// sampling) and on a skill that training raises. Everything follows from its arguments:
// there is no clock and no state but what was learned.
package scripted

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sync"

	"macaron/internal/adapter"
	"macaron/internal/contract"
	"macaron/internal/errs"
	"macaron/internal/ids"
	"macaron/internal/mindforge"
)

// Policy is an actor of known skill. Its truths are set before the first attempt.
type Policy struct {
	Families map[string]Family
	Effects  []Effect
	Spread   float64 // standard deviation of the items' own difficulty, in logits
	Shift    float64 // of each family's own shift by each contract and revision, in logits: what makes items of a family dependent
	Steep    float64 // logits that each level, and each way that a task was made harder, takes
	Broken   float64 // share of attempts in which the machinery fails
	Salt     string  // of every draw; another one is another policy of the same truth

	mu     sync.Mutex
	skills map[ids.Digest]Skill
	on     map[ids.Digest][]bool // by contract: which effects it has
}

// Family is what the tasks of one family ask.
type Family struct {
	Base  float64  // logit of the chance of an item of middling difficulty, before any effect
	Tools []string // without each of which nothing passes
	Turns int      // model calls that a pass takes; a smaller budget passes nothing
}

// Effect is what a contract gains by having all of some features, in logits. One with several
// features is an interaction: either alone does nothing by it.
type Effect struct {
	Features []Feature
	Families []string // nil: all of them
	Gain     float64
	Shows    mindforge.Failure // how its absence shows in failed attempts; "": as capability
}

// Try implements mindforge.Actor.
func (p *Policy) Try(_ context.Context, pair mindforge.Pair, t mindforge.Task, seed uint64) (mindforge.Outcome, error) {
	f, ok := p.Families[t.Family]
	if !ok {
		return mindforge.Outcome{}, errs.New(errs.NotFound, "the policy knows no family "+errs.Clip(t.Family), "")
	}
	who := p.name(pair)
	out := mindforge.Outcome{Cost: cost(pair.Contract, f)}
	if p.Broken > 0 && uniform(p.Salt, "broken", who, t.ID, seed) < p.Broken {
		out.Failure, out.Evidence = mindforge.Infrastructure, []string{"the machinery failed"}
		return out, nil
	}
	chance, err := p.Chance(pair, t)
	if err != nil {
		return out, err
	}
	if uniform(p.Salt, "pass", who, t.ID, seed) < chance {
		out.Pass, out.Points = true, 1
		return out, nil
	}
	out.Failure, out.Evidence = p.why(pair, f, t, seed)
	return out, nil
}

// Chance is the truth: how often a pair passes a task.
func (p *Policy) Chance(pair mindforge.Pair, t mindforge.Task) (float64, error) {
	f := p.Families[t.Family]
	skill, err := p.Skill(pair)
	if err != nil {
		return 0, err
	}
	for _, name := range f.Tools {
		if _, there := pair.Contract.Tool(name); !there {
			return 0, nil
		}
	}
	if pair.Contract.Agent.MaxTurns < f.Turns {
		return 0, nil
	}
	x := f.Base + skill.Families[t.Family] + p.Spread*normal(p.Salt, "item", t.ID) - p.Steep*float64(t.Level+len(t.Ways))
	if p.Shift > 0 {
		x += p.Shift * normal(p.Salt, "shift", t.Family, p.name(pair))
	}
	on := p.has(pair.Contract)
	for i, e := range p.Effects {
		if on[i] && e.of(t.Family) {
			x += e.Gain
		}
	}
	return 1 / (1 + math.Exp(-x)), nil
}

// Rate is the mean chance over tasks.
func (p *Policy) Rate(pair mindforge.Pair, tasks []mindforge.Task) (float64, error) {
	sum := 0.0
	for _, t := range tasks {
		c, err := p.Chance(pair, t)
		if err != nil {
			return 0, err
		}
		sum += c
	}
	return sum / float64(max(1, len(tasks))), nil
}

// why says how a failed attempt looks: a missing tool or budget if that is the cause, else
// one of the effects that the contract lacks, as often as it would have helped.
func (p *Policy) why(pair mindforge.Pair, f Family, t mindforge.Task, seed uint64) (mindforge.Failure, []string) {
	for _, name := range f.Tools {
		if _, there := pair.Contract.Tool(name); !there {
			return mindforge.MissingTool, []string{"the task needs " + name + ", which the contract does not declare"}
		}
	}
	if pair.Contract.Agent.MaxTurns < f.Turns {
		return mindforge.Budget, []string{fmt.Sprintf("out of turns: all %d model calls are made", pair.Contract.Agent.MaxTurns)}
	}
	on, sum := p.has(pair.Contract), 1.0 // 1: no contract would have helped
	for i, e := range p.Effects {
		if !on[i] && e.Gain > 0 && e.of(t.Family) {
			sum += e.Gain
		}
	}
	at := sum * uniform(p.Salt, "why", p.name(pair), t.ID, seed)
	for i, e := range p.Effects {
		if on[i] || e.Gain <= 0 || !e.of(t.Family) {
			continue
		}
		if at -= e.Gain; at < 0 && e.Shows != "" {
			return e.Shows, []string{"the attempt failed by " + string(e.Shows)}
		}
	}
	return mindforge.Capability, []string{"the answer is another than the right one"}
}

func (e Effect) of(family string) bool {
	return e.Families == nil || slices.Contains(e.Families, family)
}

// has tells which effects a contract has.
func (p *Policy) has(c *contract.Contract) []bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if on, ok := p.on[c.Hash()]; ok {
		return on
	}
	on := make([]bool, len(p.Effects))
	for i, e := range p.Effects {
		on[i] = true
		for _, f := range e.Features {
			on[i] = on[i] && f.In(c)
		}
	}
	if p.on == nil {
		p.on = map[ids.Digest][]bool{}
	}
	p.on[c.Hash()] = on
	return on
}

// name is a pair as draws know it.
func (p *Policy) name(pair mindforge.Pair) string {
	return string(pair.Contract.Hash()) + string(acting(pair).Hash)
}

func acting(pair mindforge.Pair) adapter.Revision {
	for _, r := range pair.Revisions {
		if r.Name == pair.Contract.Agent.Adapter {
			return r
		}
	}
	return adapter.Revision{}
}

// cost is what an attempt takes: longer texts cost more prompt tokens, about four bytes one.
func cost(c *contract.Contract, f Family) mindforge.Cost {
	turns := max(1, f.Turns)
	head := len(c.Agent.Prompts.System)
	for _, t := range c.Tools {
		head += len(t.Name) + len(t.Description) + len(t.Parameters.JSON())
	}
	return mindforge.Cost{Attempts: 1, Turns: turns, Prompt: int64(turns * (head/4 + 32)), Output: int64(16 * turns)}
}
