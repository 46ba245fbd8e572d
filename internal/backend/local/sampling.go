package local

import (
	"crypto/rand"
	"encoding/binary"
	"maps"
	"math"
	"slices"

	"macaron/internal/chat"
	"macaron/internal/engine/sample"
)

// params takes the engine's parameters from a request's; what is unset is off, and an
// unset temperature is greedy. Without a seed every request draws its own.
func params(s chat.Sampling, bias map[int32]float32) sample.Params {
	p := sample.Params{
		Temperature: or(s.Temperature, 0), TopK: or(s.TopK, 0), TopP: topP(s.TopP), MinP: or(s.MinP, 0),
		RepetitionPenalty: or(s.RepetitionPenalty, 0), PresencePenalty: or(s.PresencePenalty, 0), FrequencyPenalty: or(s.FrequencyPenalty, 0),
	}
	for _, id := range slices.Sorted(maps.Keys(bias)) {
		p.Bias = append(p.Bias, sample.Bias{ID: id, Logit: bias[id]})
	}
	if s.Seed != nil {
		p.Seed = uint64(*s.Seed)
		return p
	}
	var b [8]byte
	rand.Read(b[:]) // never fails
	p.Seed = binary.LittleEndian.Uint64(b[:])
	return p
}

// topP takes a mass of 0 as asked for: it leaves the likeliest token. To the engine 0 is off.
func topP(p *float64) float64 {
	if p == nil {
		return 0
	}
	return max(*p, math.SmallestNonzeroFloat64)
}

func or[T any](p *T, def T) T {
	if p == nil {
		return def
	}
	return *p
}

// stops are the strings that end an answer; empty ones would end every answer.
func stops(s chat.Sampling) []string {
	var out []string
	for _, t := range s.Stop {
		if t != "" {
			out = append(out, t)
		}
	}
	return out
}
