package molprofile

import (
	"fmt"
	"strings"

	"macaron/internal/chat"
	"macaron/internal/contract"
)

// write lays out a contract as a person would.
func write(k *contract.Contract) []byte {
	var b strings.Builder
	put := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	put("schema = %q\nname = %s\nversion = \"1\"\n\n[model]\nbase = %s\n\n[prompts]", contract.Schema1, quote(k.Name), quote(k.Model.Base))
	put("system = %s\nroute = %s\nsummary = %s\nforeign = %s\ntools = %s\n", quote(k.Prompts.System), quote(k.Prompts.Route),
		quote(k.Prompts.Summary), quote(k.Prompts.Foreign), quote(k.Prompts.Tools))
	put("[router]\nadapter = %s\ndefault = %s\nmin_probability = %g\nrequest_chars = %d\ncontext_chars = %d", quote(k.Router.Adapter),
		quote(k.Router.Default), k.Router.MinProbability, k.Router.RequestChars, k.Router.ContextChars)
	for _, n := range []struct {
		key   string
		value float64
	}{{"sticky_margin", k.Router.StickyMargin}, {"summaries", float64(k.Router.Summaries)}, {"shortlist", float64(k.Router.Shortlist)}} {
		if n.value != 0 {
			put("%s = %g", n.key, n.value)
		}
	}
	if k.Router.Layout != "" {
		put("layout = %s\nstem = %s", quote(k.Router.Layout), quote(k.Router.Stem))
	}
	order := make([]string, len(k.Router.Order))
	for i, l := range k.Router.Order {
		order[i] = quote(l)
	}
	put("order = [%s]\n\n[budgets]", strings.Join(order, ", "))
	put("route_tokens = %d\nsummary_tokens = %d\nanswer_tokens = %d\nsummary_wait_ms = %d\n\n[sampling]", k.Budgets.RouteTokens,
		k.Budgets.SummaryTokens, k.Budgets.AnswerTokens, k.Budgets.SummaryWaitMS)
	for _, s := range []struct {
		key   string
		value *float64
	}{{"temperature", k.Sampling.Temperature}, {"top_p", k.Sampling.TopP}, {"min_p", k.Sampling.MinP}, {"repetition_penalty", k.Sampling.RepetitionPenalty}} {
		if s.value != nil {
			put("%s = %g", s.key, *s.value)
		}
	}
	if k.Sampling.TopK != nil {
		put("top_k = %d", *k.Sampling.TopK)
	}
	for _, a := range k.Adapters {
		put("\n[[adapters]]\nname = %s\nsource = %s\ndescription = %s", quote(a.Name), quote(a.Source), quote(a.Description))
	}
	return []byte(b.String())
}

// quote writes a TOML string: what JSON escapes TOML escapes too, and lines stay lines.
func quote(s string) string {
	q := chat.Quote(s)
	if !strings.Contains(s, "\n") {
		return q
	}
	return "\"\"\"\n" + strings.ReplaceAll(q[1:len(q)-1], `\n`, "\n") + "\"\"\""
}
