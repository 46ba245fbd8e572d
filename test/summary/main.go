// Command summary measures what a specialist knows of another's turn: facts that only a tool
// told to the agent are asked for from the chat specialist, which sees the turn's summary,
// and from the agent itself, which sees it verbatim; for several budgets of summaries.
//
//	go run ./test/summary [-budgets 16,32,64,128,192]
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"strings"
	"time"

	"macaron/test/eval"
)

// probe is an errand whose result only the tool knows, and the question about it.
type probe struct{ kind, ask, tool, result, question, fact string }

// probes are made of every errand and every kind of fact.
func probes() []probe {
	errands := []struct{ ask, tool, thing string }{
		{"Book a table for two at Luigi's.", "book_table", "table"}, {"Order printer paper for the office.", "order", "order"},
		{"Send a parcel to my aunt.", "send_parcel", "parcel"}, {"Reserve a seat on the evening train.", "reserve_seat", "seat"},
		{"Make an appointment with the dentist.", "make_appointment", "appointment"}, {"Rent a car for the weekend.", "rent_car", "car"},
		{"Register me for the pottery course.", "register", "course"}, {"Get tickets for the jazz concert.", "buy_tickets", "tickets"},
	}
	facts := []struct {
		kind, key, question string
		values              []string
	}{
		{"code", "confirmation", "What was the confirmation code of the %s?", []string{"KX47", "BD92", "TR15", "WM63", "QF28", "HN81", "ZP36", "GV59"}},
		{"price", "price_eur", "What was the price in euros of the %s?", []string{"34", "127", "58", "219", "76", "143", "95", "61"}},
		{"person", "contact", "What is the name of the contact for the %s?", []string{"Marta", "Oskar", "Ingrid", "Pavel", "Noemi", "Tariq", "Selma", "Bruno"}},
		{"day", "day", "On which day is the %s?", []string{"Tuesday", "Saturday", "Monday", "Thursday", "Friday", "Wednesday", "Sunday", "Tuesday"}},
	}
	var all []probe
	for i, e := range errands {
		for _, f := range facts {
			all = append(all, probe{f.kind, e.ask, e.tool, fmt.Sprintf(`{"status": "done", %q: %q}`, f.key, f.values[i]), fmt.Sprintf(f.question, e.thing), f.values[i]})
		}
	}
	return all
}

func main() {
	program := flag.String("program", "bin/macaron", "the built program")
	budgets := flag.String("budgets", "16,32,64,128,192", "budgets.summary_tokens to measure")
	show := flag.Bool("show", false, "print every probe")
	flag.Parse()
	fmt.Printf("| summary_tokens | in the summary | asked of L0 | asked of L1, which did it | of those that L1 knows, L0 does | tokens of a summary |\n|---|---|---|---|---|---|\n")
	for _, b := range strings.Split(*budgets, ",") {
		if err := measure(*program, b, *show); err != nil {
			log.Fatal(err)
		}
	}
}

func measure(program, budget string, show bool) error {
	ctx := context.Background()
	s, err := eval.Start(ctx, program, func(c string) string {
		return strings.Replace(c, "summary_tokens = 192", "summary_tokens = "+budget, 1)
	})
	if err != nil {
		return err
	}
	defer s.Close() //nolint:errcheck // a measurement's own home
	var n, written, foreign, own, both, tokens int
	for i, p := range probes() {
		r, err := run(ctx, s, p, fmt.Sprint(i))
		if err != nil {
			return fmt.Errorf("%s: %w", p.question, err)
		}
		if show {
			fmt.Printf("  %s %s\n    summary %q\n    L0 %q\n    L1 %q\n", p.question, p.fact, r.summary, r.foreign, r.own)
		}
		n++
		tokens += r.tokens
		has := func(text string) bool { return strings.Contains(text, p.fact) }
		if has(r.summary) {
			written++
		}
		if has(r.foreign) {
			foreign++
		}
		if has(r.own) {
			own++
			if has(r.foreign) {
				both++
			}
		}
	}
	fmt.Printf("| %s | %s | %s | %s | %s | %.0f |\n", budget, eval.Share(written, n), eval.Share(foreign, n), eval.Share(own, n), eval.Share(both, own), float64(tokens)/float64(n))
	return nil
}

type result struct {
	summary, foreign, own string
	tokens                int // of the summary
}

// message is a message with the members of tool calls.
type message = map[string]any

// run does the errand with the agent and asks both specialists about it.
func run(ctx context.Context, s *eval.Server, p probe, user string) (r result, err error) {
	tools := []message{{"type": "function", "function": message{"name": p.tool, "description": p.ask, "parameters": message{"type": "object", "properties": message{"note": message{"type": "string"}}, "required": []string{"note"}}}}}
	body := message{"model": "macaron/L1", "temperature": 0, "max_tokens": 128, "user": user}
	history := []message{{"role": "user", "content": p.ask}}
	first, _, err := ask(ctx, s, body, history, message{"tools": tools, "tool_choice": message{"type": "function", "function": message{"name": p.tool}}})
	if err != nil {
		return r, err
	}
	calls, _ := first["tool_calls"].([]any)
	if len(calls) != 1 {
		return r, fmt.Errorf("no call: %v", first)
	}
	id := calls[0].(message)["id"]
	history = append(history, first, message{"role": "tool", "tool_call_id": id, "content": p.result})
	done, session, err := ask(ctx, s, body, history, message{"tools": tools})
	if err != nil {
		return r, err
	}
	history = append(history, done)
	if r.summary, r.tokens, err = summary(ctx, s, session); err != nil {
		return r, err
	}
	for model, to := range map[string]*string{"macaron/L0": &r.foreign, "macaron/L1": &r.own} {
		body["model"] = model
		a, _, err := ask(ctx, s, body, append(history[:len(history):len(history)], message{"role": "user", "content": p.question}), nil)
		if err != nil {
			return r, err
		}
		*to, _ = a["content"].(string)
	}
	return r, nil
}

// ask gives the assistant's message and the session.
func ask(ctx context.Context, s *eval.Server, body message, history []message, more message) (said message, session string, err error) {
	all := message{"messages": history}
	for k, v := range body {
		all[k] = v
	}
	for k, v := range more {
		all[k] = v
	}
	var got struct {
		Choices []struct{ Message message }
		Macaron struct{ Session string }
	}
	if err := s.Post(ctx, "/v1/chat/completions", all, &got); err != nil {
		return nil, "", err
	}
	m := got.Choices[0].Message
	out := message{"role": "assistant", "content": m["content"]}
	if c, ok := m["tool_calls"]; ok {
		out["tool_calls"] = c
	}
	return out, got.Macaron.Session, nil
}

// summary waits for the summary of a session's last turn.
func summary(ctx context.Context, s *eval.Server, session string) (string, int, error) {
	for range 300 {
		var view struct {
			Tree []struct {
				Summary struct{ Text string }
				Hops    []struct {
					Hop    string
					Output int `json:"output_tokens"`
				}
			}
		}
		if err := s.Get(ctx, "/admin/sessions/"+session, &view); err != nil {
			return "", 0, err
		}
		if n := len(view.Tree); n > 0 && view.Tree[n-1].Summary.Text != "" {
			last := view.Tree[n-1]
			for _, h := range last.Hops {
				if h.Hop == "summary" {
					return last.Summary.Text, h.Output, nil
				}
			}
			return last.Summary.Text, 0, nil
		}
		select {
		case <-ctx.Done():
			return "", 0, ctx.Err()
		case <-time.After(50 * time.Millisecond):
		}
	}
	return "", 0, fmt.Errorf("no summary of %s came", session)
}
