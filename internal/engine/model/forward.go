package model

import (
	"macaron/internal/engine/kernel"
	"macaron/internal/engine/lora"
)

// Forward computes the runs, writes their keys and values into their pages, and gives
// the final hidden states [wanted, d] of the rows that runs want, run by run in
// position order. The result is valid until the next call.
func (s *Step) Forward(runs []Run) []float32 {
	s.Begin(runs)
	for i := range s.m.layers {
		s.Layer(i, nil)
	}
	return s.End(nil)
}

// attention is the first half of a layer: y = o(attend(qkv(h))), keys and values stored.
func (s *Step) attention(i int) {
	m, n := s.m, len(s.rows)
	s.acts.Set(s.pool, s.h, n, m.D, s.mode)
	s.products(i, &s.acts, []lora.Target{lora.Q, lora.K, lora.V}, s.q, s.k, s.v)
	s.rotateAndStore(i)
	s.attend(i)
	s.acts.Set(s.pool, s.att, n, m.H*m.C, s.mode)
	s.products(i, &s.acts, []lora.Target{lora.O}, s.y)
}

// widen is the first part of the feed-forward half: gate and up of h.
func (s *Step) widen(i int) {
	s.acts.Set(s.pool, s.h, len(s.rows), s.m.D, s.mode)
	s.products(i, &s.acts, []lora.Target{lora.Gate, lora.Up}, s.gate, s.up)
}

// narrow is its second part: y = down(act), after activate.
func (s *Step) narrow(i int) {
	s.acts.Set(s.pool, s.act, len(s.rows), s.m.F, s.mode)
	s.products(i, &s.acts, []lora.Target{lora.Down}, s.y)
}

// postBefore is what normalises the output of the feed-forward part that layer i begins
// with, nil for nothing.
func (m *Model) postBefore(i int) []float32 {
	if i == 0 {
		return nil
	}
	return m.layers[i-1].ffnPost
}

// attend computes att = softmax(scale * q K^T) V for every head, over the pages.
func (s *Step) attend(layer int) {
	if m := s.m; s.mode == kernel.Int8 {
		kernel.Attend(s.pool, s.att, s.q, m.H, m.G, m.C, m.Scale, s.attending(layer))
		return
	}
	s.perRow(s.tasks.exact)
}

// attending names every run's pages in one layer.
func (s *Step) attending(layer int) []kernel.AttnSeq {
	for i := range s.seqs {
		r := &s.runs[i]
		list := s.pages[i][:0]
		for _, p := range r.Pages[:(r.Pos+len(r.Tokens)+kernel.PageTokens-1)/kernel.PageTokens] {
			list = append(list, s.arena.pages[p][layer])
		}
		s.pages[i], s.seqs[i].Pages, s.seqs[i].Window = list, list, s.m.layers[layer].window
	}
	return s.seqs
}

// pick copies the wanted rows of h together.
func (s *Step) pick() []float32 {
	s.picked = s.picked[:0]
	for i, r := range s.runs {
		end := s.seqs[i].Row0 + len(r.Tokens)
		s.picked = append(s.picked, s.h[(end-r.Want)*s.m.D:end*s.m.D]...)
	}
	return s.picked
}
