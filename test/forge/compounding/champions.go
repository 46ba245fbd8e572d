package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"macaron/internal/app"
	"macaron/internal/auth"
	"macaron/internal/clock"
	"macaron/internal/config"
	"macaron/internal/contract"
	"macaron/internal/errs"
	"macaron/internal/ids"
	"macaron/internal/mindforge"
	"macaron/internal/mindforge/ledger"
)

// history is what the ledger of a run says: the champion of each generation, the start first, what
// became of each candidate, and what was spent on what.
type history struct {
	champions []mindforge.Pair
	verdicts  [][]string // of each generation, from the first
	edits     []mindforge.Edit
	spent     map[string]mindforge.Cost
}

// read reads the ledger of a run that has ended.
func (s site) read(ctx context.Context, run string) (h history, err error) {
	c, err := config.Load(map[string]string{"home": s.path("home")})
	if err != nil {
		return h, err
	}
	store, err := app.OpenStore(ctx, c)
	if err != nil {
		return h, err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	l := &ledger.Ledger{Store: store, Clock: clock.System{}, Limits: ledger.DefaultLimits}
	all, err := l.All(ctx, auth.Local, run)
	if err != nil {
		return h, err
	}
	h.spent = map[string]mindforge.Cost{}
	made := map[ids.Digest]mindforge.Candidate{}
	for _, e := range all {
		b, err := e.Decode()
		if err != nil {
			return h, err
		}
		if c, ok := b.(ledger.Candidate); ok {
			made[c.Hash] = c.Candidate
		}
		now := h.body(e.Key, b)
		if now == "" {
			continue
		}
		p, err := pairOf(ctx, store, made[now])
		if err != nil {
			return h, err
		}
		h.champions = append(h.champions, p)
		if g := len(h.champions) - 2; g >= 0 && p.Contract.Hash() != h.champions[g].Contract.Hash() {
			h.edits = append(h.edits, edits(made, made[now])...)
		}
	}
	return h, nil
}

// body takes an entry in. It gives the candidate that is champion from here on, where it says so.
func (h *history) body(key string, b ledger.Body) ids.Digest {
	switch b := b.(type) {
	case ledger.Candidate:
		if key == "seed" {
			return b.Hash
		}
	case ledger.Made:
		switch {
		case b.What == "outcomes":
			h.spend(b.Name, b.Cost)
		case b.What == "revision":
			h.spend("training", b.Cost)
		}
	case ledger.Decision:
		h.spend("gate", b.Decision.Cost)
		g := strings.Split(key, "/")
		h.say(g[0], fmt.Sprintf("%s: %v: %s", strings.Join(g[2:], "/"), b.Decision.Pass, b.Decision.Why))
	case ledger.Step:
		if g, name, _ := strings.Cut(key, "/"); name == "close" {
			h.say(g, b.Note)
			return b.Result
		} else if name == "update" {
			h.say(g, "update: "+b.Note)
		}
	}
	return ""
}

func (h *history) spend(on string, c mindforge.Cost) { h.spent[on] = h.spent[on].Plus(c) }

func (h *history) say(generation, what string) {
	var g int
	if _, err := fmt.Sscanf(generation, "g%d", &g); err != nil || g < 1 {
		return
	}
	for len(h.verdicts) < g {
		h.verdicts = append(h.verdicts, nil)
	}
	h.verdicts[g-1] = append(h.verdicts[g-1], what)
}

// edits are those of a candidate, or of the one whose weights it has changed.
func edits(made map[ids.Digest]mindforge.Candidate, c mindforge.Candidate) []mindforge.Edit {
	for len(c.Edits) == 0 && len(c.Parents) == 1 && c.Operator == mindforge.Train {
		c = made[c.Parents[0]]
	}
	return c.Edits
}

func pairOf(ctx context.Context, store app.Store, c mindforge.Candidate) (mindforge.Pair, error) {
	text, err := store.KeptText(ctx, auth.Local, ledger.ContractText, c.Contract)
	if err != nil {
		return mindforge.Pair{}, err
	}
	k, err := contract.Parse([]byte(text))
	if err == nil && k.Hash() != c.Contract {
		err = errs.New(errs.ChecksumMismatch, "a kept contract is not what its name says", "")
	}
	return mindforge.Pair{Contract: k, Revisions: c.Revisions}, err
}
