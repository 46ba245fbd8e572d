package shortlist

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"slices"
	"strings"

	"macaron/internal/contract"
	"macaron/internal/disk"
	"macaron/internal/errs"
)

// Set is described adapters with requests that belong to them.
type Set struct {
	Contract *contract.Contract
	Requests []Labelled
}

// Labelled is a request and the adapter that it is for.
type Labelled struct{ Label, Text string }

// ReadSet reads a file with an adapter a line: its name, its description and its requests,
// separated by tabs.
func ReadSet(path string) (*Set, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, disk.OpenError(err, "the set cannot be opened", "")
	}
	defer f.Close() // read-only
	s := &Set{}
	text := setHead
	for lines := bufio.NewScanner(f); lines.Scan(); {
		cells := strings.Split(lines.Text(), "\t")
		if len(cells) < 3 {
			return nil, errs.New(errs.FormatInvalid, fmt.Sprintf("a line of the set has %d cells", len(cells)), "")
		}
		text += fmt.Sprintf("[[adapters]]\nname = %q\nsource = \"model:x\"\ndescription = %q\n", cells[0], cells[1])
		for _, c := range cells[2:] {
			s.Requests = append(s.Requests, Labelled{cells[0], c})
		}
	}
	first, _, _ := strings.Cut(strings.TrimPrefix(text[len(setHead):], "[[adapters]]\nname = \""), "\"")
	s.Contract, err = contract.Parse([]byte(strings.ReplaceAll(text, "FIRST", first)))
	return s, err
}

const setHead = `schema = "macaron.hcp/1"
name = "set"
version = "1"
model.base = "x"
prompts = {system = "{{specialist}}", route = "{{adapters}}", summary = "s", foreign = "{{summary}}", tools = "{{tools}}"}
router = {adapter = "FIRST", default = "FIRST", request_chars = 1, context_chars = 0}
budgets = {route_tokens = 1, summary_tokens = 1, answer_tokens = 1, summary_wait_ms = 0}
`

// Ranks gives for each request the rank of its adapter, from 1.
func (s *Set) Ranks(ctx context.Context, r *Ranker) []int {
	labels := s.Contract.Labels()
	out := make([]int, len(s.Requests))
	for i, q := range s.Requests {
		all, _ := r.Rank(ctx, s.Contract, labels, q.Text, len(labels))
		out[i] = slices.Index(all, q.Label) + 1
	}
	return out
}
