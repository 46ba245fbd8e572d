package flow

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"macaron/internal/errs"
	"macaron/internal/tool"
)

// args are the arguments of any tool here.
type args struct {
	Branch string `json:"branch"`
	Title  string `json:"title"`
	Copy   string `json:"copy"`
	Member string `json:"member"`
	Plan   string `json:"plan"`
	Loan   string `json:"loan"`
	Moved  string `json:"transfer"`
	Region string `json:"region"`
	Genre  string `json:"genre"`
	First  int    `json:"first_day"`
	Last   int    `json:"last_day"`
}

// function is a tool of the suite: its parameters and what it answers in a world.
type function struct {
	name, about string
	params      []string
	do          func(w *world, a args) (any, bool)
}

// functions are the tools. Each looks at one row, or lists the identifiers that fit.
var functions = []function{
	{"get_branch", "Region, staff and weekly opening hours of a branch.", []string{"branch"}, func(w *world, a args) (any, bool) { return at(w.branches, a.Branch, 'b') }},
	{"list_branches", "Identifiers of the branches in a region.", []string{"region"}, func(w *world, a args) (any, bool) {
		return pick(w.branches, 'b', func(b branch) bool { return b.Region == a.Region }), slices.Contains(regions, a.Region)
	}},
	{"get_title", "Genre, price in cents and pages of a title.", []string{"title"}, func(w *world, a args) (any, bool) { return at(w.titles, a.Title, 't') }},
	{"list_titles", "Identifiers of the titles of a genre.", []string{"genre"}, func(w *world, a args) (any, bool) {
		return pick(w.titles, 't', func(t title) bool { return t.Genre == a.Genre }), slices.Contains(genres, a.Genre)
	}},
	{"get_copy", "Title, branch and wear (0 to 9) of a copy.", []string{"copy"}, func(w *world, a args) (any, bool) { return at(w.copies, a.Copy, 'c') }},
	{"list_copies_at", "Identifiers of the copies that a branch owns.", []string{"branch"}, func(w *world, a args) (any, bool) {
		_, ok := at(w.branches, a.Branch, 'b')
		return pick(w.copies, 'c', func(c volume) bool { return c.Branch == a.Branch }), ok
	}},
	{"list_copies_of", "Identifiers of the copies of a title.", []string{"title"}, func(w *world, a args) (any, bool) {
		_, ok := at(w.titles, a.Title, 't')
		return pick(w.copies, 'c', func(c volume) bool { return c.Title == a.Title }), ok
	}},
	{"get_member", "Home branch and plan of a member.", []string{"member"}, func(w *world, a args) (any, bool) { return at(w.members, a.Member, 'm') }},
	{"get_plan", "Free days, fee in cents for each day after them, and highest fee of a loan, of a plan.", []string{"plan"}, func(w *world, a args) (any, bool) {
		i := slices.Index(plans, a.Plan)
		if i < 0 {
			return nil, false
		}
		return w.plans[i], true
	}},
	{"list_loans", "Identifiers of the loans of a branch's copies that began from first_day to last_day.", []string{"branch", "first_day", "last_day"}, func(w *world, a args) (any, bool) {
		_, ok := at(w.branches, a.Branch, 'b')
		return pick(w.loans, 'l', func(l loan) bool {
			c, _ := at(w.copies, l.Copy, 'c')
			return c.Branch == a.Branch && a.First <= l.Day && l.Day <= a.Last
		}), ok
	}},
	{"list_loans_of_copy", "Identifiers of the loans of a copy that began from first_day to last_day.", []string{"copy", "first_day", "last_day"}, func(w *world, a args) (any, bool) {
		_, ok := at(w.copies, a.Copy, 'c')
		return pick(w.loans, 'l', func(l loan) bool { return l.Copy == a.Copy && a.First <= l.Day && l.Day <= a.Last }), ok
	}},
	{"get_loan", "Copy, member, first day and days kept of a loan.", []string{"loan"}, func(w *world, a args) (any, bool) { return at(w.loans, a.Loan, 'l') }},
	{"list_transfers", "Identifiers of the transfers that left a branch from first_day to last_day.", []string{"branch", "first_day", "last_day"}, func(w *world, a args) (any, bool) {
		_, ok := at(w.branches, a.Branch, 'b')
		return pick(w.transfers, 'x', func(x transfer) bool { return x.From == a.Branch && a.First <= x.Day && x.Day <= a.Last }), ok
	}},
	{"get_transfer", "Copy, branches, day and cost in cents of a transfer.", []string{"transfer"}, func(w *world, a args) (any, bool) { return at(w.transfers, a.Moved, 'x') }},
}

func at[T any](table []T, s string, letter byte) (T, bool) {
	i, ok := row(s, letter, len(table))
	if !ok {
		var none T
		return none, false
	}
	return table[i], true
}

func pick[T any](table []T, letter byte, fits func(T) bool) []string {
	out := []string{}
	for i, v := range table {
		if fits(v) {
			out = append(out, id(letter, i))
		}
	}
	return out
}

// hosted is a function in a world, as the gate calls it.
type hosted struct {
	function
	w *world
}

// Def implements tool.Tool.
func (h hosted) Def() tool.Def {
	return tool.Def{Name: h.name, Description: h.about, Effect: tool.Read, Parameters: schema(h.params)}
}

// Invoke implements tool.Tool.
func (h hosted) Invoke(_ context.Context, c tool.Call) (tool.Result, error) {
	var a args
	if err := json.Unmarshal(c.Arguments, &a); err != nil {
		return tool.Result{}, errs.New(errs.InvalidRequest, "the arguments cannot be read", "")
	}
	v, ok := h.do(h.w, a)
	if !ok {
		return tool.Result{}, errs.New(errs.NotFound, "there is no such "+h.params[0], "")
	}
	value, err := json.Marshal(v)
	return tool.Result{Value: value}, err
}

func schema(params []string) json.RawMessage {
	var properties, required []string
	for _, p := range params {
		text := `{"type":"string"}`
		switch p {
		case "first_day", "last_day":
			text = fmt.Sprintf(`{"type":"integer","minimum":1,"maximum":%d}`, lastDay)
		case "region":
			text = `{"type":"string","enum":["` + strings.Join(regions, `","`) + `"]}`
		case "genre":
			text = `{"type":"string","enum":["` + strings.Join(genres, `","`) + `"]}`
		case "plan":
			text = `{"type":"string","enum":["` + strings.Join(plans, `","`) + `"]}`
		}
		properties, required = append(properties, `"`+p+`":`+text), append(required, `"`+p+`"`)
	}
	return json.RawMessage(`{"type":"object","properties":{` + strings.Join(properties, ",") + `},"required":[` + strings.Join(required, ",") + `],"additionalProperties":false}`)
}
