package money

import "math/bits"

// Rate is what tokens cost: amounts for a million of each.
type Rate struct {
	Input, Cached, Output USD
}

// Cost is what a model call costs: its prompt, cached tokens among it, and its answer. The
// sum is exact and rounded once, a half up.
func (r Rate) Cost(prompt, cached, output int) USD {
	cached = min(max(cached, 0), max(prompt, 0))
	hi, lo := uint64(0), uint64(million/2)
	for _, p := range []struct {
		tokens int
		price  USD
	}{{prompt - cached, r.Input}, {cached, r.Cached}, {output, r.Output}} {
		// Below 2^31 tokens and Most/1000 the sum stays below 2^64 million.
		h, l := bits.Mul64(uint64(min(max(p.tokens, 0), 1<<31)), uint64(min(max(p.price, 0), MostRate)))
		var carry uint64
		lo, carry = bits.Add64(lo, l, 0)
		hi += h + carry
	}
	q, _ := bits.Div64(hi, lo, million)
	return USD(q)
}

const million = 1_000_000

// MostRate is the largest price of a million tokens: a million dollars.
const MostRate = Most / 1000

// Row is a line of a price table: what calls of an engine and a model cost. An empty name
// stands for every engine, or every model.
type Row struct {
	Engine, Model string
	Rate          Rate
}

// Table is a price table.
type Table []Row

// Find gives the rate of a model at an engine, by the line that names most of it: one with
// both, else one with the model, else one with the engine, else one for everything.
func (t Table) Find(engine, model string) (r Rate, known bool) {
	best := -1
	for _, row := range t {
		if row.Engine != "" && row.Engine != engine || row.Model != "" && row.Model != model {
			continue
		}
		rank := 0
		if row.Model != "" {
			rank += 2
		}
		if row.Engine != "" {
			rank++
		}
		if rank > best {
			best, r, known = rank, row.Rate, true
		}
	}
	return r, known
}
