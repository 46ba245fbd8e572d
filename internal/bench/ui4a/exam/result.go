package exam

import (
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"macaron/internal/bench/ui4a"
)

// Format names the form of a run's file.
const Format = "macaron-ui4a-bench/1"

// Run is one measurement.
type Run struct {
	Format  string       `json:"format"`
	Version string       `json:"version"` // of the rules
	Source  string       `json:"source"`
	Judge   string       `json:"judge,omitempty"`
	Began   time.Time    `json:"began"`
	Seconds float64      `json:"seconds"`
	Cases   []CaseResult `json:"cases"`
	Summary Summary      `json:"summary"`
}

// CaseResult is what came of one case.
type CaseResult struct {
	ID       string       `json:"id"`
	Family   string       `json:"family"`
	Language string       `json:"language"`
	Request  string       `json:"request"`
	Wanted   bool         `json:"wanted"` // a card is right
	Given    bool         `json:"given"`  // a card was given
	Answer   Answer       `json:"answer"`
	Views    []ViewResult `json:"views,omitempty"`
	Layers   []ui4a.Layer `json:"layers,omitempty"`  // of a case without a card on screen
	Score    float64      `json:"score"`             // composite, mean over the screens
	Rules    float64      `json:"rules"`             // without judges
	Mobile   float64      `json:"mobile"`            // of the phone alone
	Failure  string       `json:"failure,omitempty"` // of the machinery: the case does not count
}

// ViewResult is a card on one screen. The evidence lies in a file beside.
type ViewResult struct {
	View     ui4a.View     `json:"view"`
	Layers   []ui4a.Layer  `json:"layers"`
	Verdicts ui4a.Verdicts `json:"verdicts,omitempty"`
	Score    float64       `json:"score"`
	Rules    float64       `json:"rules"`
	PaintMS  float64       `json:"paint_ms"`
	TaskMS   float64       `json:"task_ms"`
	Shots    []string      `json:"shots,omitempty"`
	Evidence string        `json:"evidence,omitempty"` // file
	Axe      int           `json:"axe"`
}

// Interval is a mean with its 95 % interval.
type Interval struct {
	Mean float64 `json:"mean"`
	Low  float64 `json:"low"`
	High float64 `json:"high"`
	N    int     `json:"n"`
}

// Summary is the run in numbers. Everything is in points, 0 to 100, unless it says otherwise.
type Summary struct {
	Final      Interval            `json:"final"`       // normalised, judged where there was a judge, mean of both screens
	FinalRules Interval            `json:"final_rules"` // the same from rules alone
	Mobile     Interval            `json:"final_mobile"`
	Composite  Interval            `json:"composite"` // before normalisation
	Layers     map[string]Interval `json:"layers"`
	Histograms map[string][]int    `json:"histograms"` // of each layer: cases with 0 to 10 points, 10 to 20, ..., 90 to 100
	Families   map[string]Interval `json:"families"`   // composite
	Decision   Interval            `json:"decision"`   // a card where one is right, none where none is, percent
	Rounds     float64             `json:"rounds"`     // of repair, mean
	Output     float64             `json:"output_tokens"`
	FirstMS    float64             `json:"first_ms"`
	PaintMS    float64             `json:"paint_ms"` // median
	Failed     int                 `json:"failed"`
}

// sum computes the summary.
func (r *Run) sum() {
	s := Summary{Layers: map[string]Interval{}, Histograms: map[string][]int{}, Families: map[string]Interval{}}
	var score, rules, mobile, decided, paint []float64
	layers, families := map[string][]float64{}, map[string][]float64{}
	for _, c := range r.Cases {
		if c.Failure != "" {
			s.Failed++
			continue
		}
		score, rules, mobile = append(score, c.Score), append(rules, c.Rules), append(mobile, c.Mobile)
		decided = append(decided, map[bool]float64{true: 100}[c.Wanted == c.Given])
		families[c.Family] = append(families[c.Family], c.Score)
		s.Rounds, s.Output, s.FirstMS = s.Rounds+float64(c.Answer.Rounds), s.Output+float64(c.Answer.Output), s.FirstMS+c.Answer.FirstMS
		for name, v := range c.byLayer() {
			layers[name] = append(layers[name], v)
		}
		for _, v := range c.Views {
			if v.PaintMS > 0 {
				paint = append(paint, v.PaintMS)
			}
		}
	}
	n := float64(max(1, len(score)))
	s.Rounds, s.Output, s.FirstMS, s.PaintMS = s.Rounds/n, s.Output/n, s.FirstMS/n, median(paint)
	s.Composite, s.Decision = bootstrap(score), bootstrap(decided)
	s.Final, s.FinalRules, s.Mobile = anchors.final(s.Composite), anchors.final(bootstrap(rules)), anchors.final(bootstrap(mobile))
	for name, v := range layers {
		s.Layers[name], s.Histograms[name] = bootstrap(v), histogram(v)
	}
	for name, v := range families {
		s.Families[name] = bootstrap(v)
	}
	r.Summary = s
}

// byLayer gives the mean over the screens of each layer that applies.
func (c CaseResult) byLayer() map[string]float64 {
	lists := [][]ui4a.Layer{c.Layers}
	for _, v := range c.Views {
		lists = append(lists, v.Layers)
	}
	sums, n := map[string]float64{}, map[string]float64{}
	for _, list := range lists {
		for _, l := range list {
			if l.Score != nil {
				sums[l.Name], n[l.Name] = sums[l.Name]+*l.Score, n[l.Name]+1
			}
		}
	}
	for name := range sums {
		sums[name] /= n[name]
	}
	return sums
}

// histogram counts values by tens; 100 is with those above 90.
func histogram(values []float64) []int {
	n := make([]int, 10)
	for _, v := range values {
		n[int(clamp(v)/10.0001)]++
	}
	return n
}

// bootstrap gives the mean and the percentile interval of 2,000 resamples of the cases
// (Efron 1979), the same for the same values.
func bootstrap(values []float64) Interval {
	i := Interval{N: len(values)}
	if len(values) == 0 {
		return i
	}
	const resamples = 2000
	random := rand.New(rand.NewPCG(1, 2))
	means := make([]float64, resamples)
	for k := range means {
		for range values {
			means[k] += values[random.IntN(len(values))]
		}
		means[k] /= float64(len(values))
	}
	for _, v := range values {
		i.Mean += v / float64(len(values))
	}
	slices.Sort(means)
	i.Low, i.High = means[resamples*25/1000], means[resamples*975/1000-1]
	return i
}

func median(values []float64) float64 {
	if len(values) == 0 {
		return 0
	}
	slices.Sort(values)
	return values[len(values)/2]
}

// clamp keeps a score within 0 and 100.
func clamp(v float64) float64 { return math.Max(0, math.Min(100, v)) }
