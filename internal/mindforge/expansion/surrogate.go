package expansion

import (
	"math"
	"math/rand/v2"

	"macaron/internal/mindforge"
)

// surrogate is what a search believes of single edits: a Bayesian linear model of points on
// which edits a contract has and which family a task is of. Every attempt tells of all edits
// of its contract at once, as in a factorial design, and of no interaction. It steers what is
// tried; no candidate is taken for its word.
type surrogate struct {
	edits    map[mindforge.Edit]int // column of each
	families map[string]int
	prior    []float64   // precision of each weight
	a        [][]float64 // posterior precision
	b        []float64   // a times the posterior mean
}

// Scales of the model, in points.
const (
	noise   = 0.45 // of one attempt, which passes or does not
	effects = 0.15 // of one edit
	levels  = 0.35 // of one family, and of all
)

func newSurrogate() *surrogate {
	s := &surrogate{edits: map[mindforge.Edit]int{}, families: map[string]int{}}
	s.column(levels)
	return s
}

// column adds a weight that is 0 give or take scale.
func (s *surrogate) column(scale float64) int {
	n := len(s.b)
	for i := range s.a {
		s.a[i] = append(s.a[i], 0)
	}
	s.a = append(s.a, make([]float64, n+1))
	s.b, s.prior = append(s.b, 0), append(s.prior, 1/(scale*scale))
	s.a[n][n] = s.prior[n]
	return n
}

func (s *surrogate) edit(e mindforge.Edit) int {
	if _, ok := s.edits[e]; !ok {
		s.edits[e] = s.column(effects)
	}
	return s.edits[e]
}

// add takes in one outcome.
func (s *surrogate) add(edits []mindforge.Edit, family string, points float64) {
	if _, ok := s.families[family]; !ok {
		s.families[family] = s.column(levels)
	}
	on := []int{0, s.families[family]}
	for _, e := range edits {
		on = append(on, s.edit(e))
	}
	const w = 1 / (noise * noise)
	for _, i := range on {
		for _, j := range on {
			s.a[i][j] += w
		}
		s.b[i] += w * points
	}
}

// root is the lower triangle L with L·Lᵀ = a.
func (s *surrogate) root() [][]float64 {
	n := len(s.b)
	l := make([][]float64, n)
	for i := range l {
		l[i] = make([]float64, i+1)
		for j := range i + 1 {
			sum := s.a[i][j]
			for k := range j {
				sum -= l[i][k] * l[j][k]
			}
			if i == j {
				l[i][i] = math.Sqrt(sum)
			} else {
				l[i][j] = sum / l[j][j]
			}
		}
	}
	return l
}

// draw gives weights from the posterior: N(a⁻¹b, a⁻¹). Without randomness they are its mean.
func (s *surrogate) draw(r *rand.Rand) []float64 {
	l, n := s.root(), len(s.b)
	w := make([]float64, n)
	for i := range n { // L·y = b, and noise that becomes N(0, a⁻¹)
		sum := s.b[i]
		for k := range i {
			sum -= l[i][k] * w[k]
		}
		w[i] = sum / l[i][i]
	}
	if r != nil {
		for i := range w {
			w[i] += r.NormFloat64()
		}
	}
	for i := n - 1; i >= 0; i-- { // Lᵀ·w = y
		for k := i + 1; k < n; k++ {
			w[i] -= l[k][i] * w[k]
		}
		w[i] /= l[i][i]
	}
	return w
}

// deviation is the posterior standard deviation of each weight.
func (s *surrogate) deviation() []float64 {
	l, n := s.root(), len(s.b)
	out := make([]float64, n)
	for c := range n { // column c of L⁻¹; a⁻¹ = L⁻ᵀ·L⁻¹
		x := make([]float64, n)
		x[c] = 1 / l[c][c]
		for i := c + 1; i < n; i++ {
			for k := c; k < i; k++ {
				x[i] -= l[i][k] * x[k]
			}
			x[i] /= l[i][i]
		}
		for i := c; i < n; i++ {
			out[c] += x[i] * x[i]
		}
		out[c] = math.Sqrt(out[c])
	}
	return out
}
