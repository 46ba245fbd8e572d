package report

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"slices"
	"strings"
	"time"

	"macaron/internal/ids"
	"macaron/internal/mindforge"
	"macaron/internal/mindforge/stat"
)

//go:embed page.html
var pageHTML string

// shown is how many rows of a long table the page has; the JSON has all.
const shown = 300

var page = template.Must(template.New("report").Funcs(template.FuncMap{
	"text":   plain,
	"time":   func(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05") },
	"took":   func(a, b time.Time) string { return b.Sub(a).Round(time.Second).String() },
	"short":  func(d ids.Digest) string { return d.Short() },
	"pct":    func(v float64) string { return fmt.Sprintf("%.1f", 100*v) },
	"signed": func(v float64) string { return fmt.Sprintf("%+.3f", v) },
	"part": func(r stat.Rate) string {
		return fmt.Sprintf("%.1f %% [%.1f, %.1f], %d of %d", 100*r.Value(), 100*r.Low, 100*r.High, r.K, r.N)
	},
	"join":    func(s []string) string { return plain(strings.Join(s, ", ")) },
	"cost":    costLine,
	"seconds": func(ms int64) string { return fmt.Sprintf("%.1f", float64(ms)/1000) },
	"command": func(r *Report, what string) string {
		i := slices.IndexFunc(r.Commands, func(c Command) bool { return c.What == what })
		if i < 0 {
			return ""
		}
		return plain(r.Commands[i].Line)
	},
	"curve":    func(c Covered) template.HTML { return template.HTML(c.Chart().SVG()) }, //nolint:gosec // escaped by the chart
	"rise":     func(r *Report) template.HTML { return template.HTML(r.Chart().SVG()) }, //nolint:gosec // escaped by the chart
	"first":    func(n int) bool { return n < shown },
	"more":     func(n int) int { return max(0, n-shown) },
	"transfer": transfer,
}).Parse(pageHTML))

// HTML is the report for people: one file, without script.
func (r *Report) HTML() ([]byte, error) {
	var b bytes.Buffer
	err := page.Execute(&b, r)
	return b.Bytes(), err
}

// Chart is the coverage of each arm against the attempts.
func (c Coverage) Chart() Chart {
	out := Chart{Title: fmt.Sprintf("coverage of %d tasks against attempts, by arm", c.Items), X: "attempts", Y: "tasks covered"}
	for _, a := range c.Arms {
		l := Line{Name: a.Name}
		for _, p := range a.Curve {
			l.Points = append(l.Points, Point{float64(p.Attempts), p.Covered.Mean, p.Covered.Low, p.Covered.High})
		}
		out.Lines = append(out.Lines, l)
	}
	return out
}

// Chart is what the champion of each generation scored, by stage and suite.
func (r *Report) Chart() Chart {
	out := Chart{Title: "generations against the score of their champion", X: "generation", Y: "attempts that passed"}
	for _, m := range r.Measured {
		name := m.Stage + ", " + m.Suite
		i := slices.IndexFunc(out.Lines, func(l Line) bool { return l.Name == name })
		if g := r.generation(m.Generation); g == nil || g.Champion != m.Candidate || i < 0 && len(out.Lines) == colours {
			continue
		}
		if i < 0 {
			out.Lines, i = append(out.Lines, Line{Name: name}), len(out.Lines)
		}
		out.Lines[i].Points = append(out.Lines[i].Points, Point{float64(m.Generation), m.Rate.Mean, m.Rate.Low, m.Rate.High})
	}
	return out
}

func (r *Report) generation(n int) *Generation {
	i := slices.IndexFunc(r.Generations, func(g Generation) bool { return g.N == n })
	if i < 0 {
		return nil
	}
	return &r.Generations[i]
}

func (r *Report) suites() (out []string) {
	for _, m := range r.Measured {
		if !slices.Contains(out, m.Suite) {
			out = append(out, m.Suite)
		}
	}
	slices.Sort(out)
	return out
}

// measured is the last measurement of a candidate.
func (r *Report) measured(c ids.Digest, suite string) *Measured {
	for i := len(r.Measured) - 1; i >= 0; i-- {
		if m := &r.Measured[i]; m.Candidate == c && m.Suite == suite {
			return m
		}
	}
	return nil
}

// Table is suites against pairs.
type Table struct {
	Columns []string
	Rows    []Row
}

// Row is a suite.
type Row struct {
	Suite string
	Cells []*Measured
}

// maxColumns of the table of transfer.
const maxColumns = 8

// transfer has the pairs that were measured, each on every suite.
func transfer(r *Report) (t Table) {
	var pairs []ids.Digest
	for _, g := range r.Generations {
		for _, m := range r.Measured {
			if m.Generation == g.N && !slices.Contains(pairs, m.Candidate) && len(pairs) < maxColumns {
				pairs, t.Columns = append(pairs, m.Candidate), append(t.Columns, m.Label)
			}
		}
	}
	for _, suite := range r.suites() {
		row := Row{Suite: suite}
		for _, p := range pairs {
			row.Cells = append(row.Cells, r.measured(p, suite))
		}
		if slices.ContainsFunc(row.Cells, func(m *Measured) bool { return m != nil }) {
			t.Rows = append(t.Rows, row)
		}
	}
	return t
}

func costLine(c mindforge.Cost) string {
	return fmt.Sprintf("%d attempts, %d turns, %d + %d tokens, %d trained, %.1f s of processor, %.4f USD", c.Attempts, c.Turns, c.Prompt, c.Output, c.Trained, float64(c.CPUMS)/1000, c.USD)
}

// quoted is an argument of a shell.
func quoted(s string) string {
	if s != "" && strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-") == "" {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
