package exam

import (
	"bytes"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"macaron/internal/bench/ui4a"
	"macaron/internal/disk"
)

//go:embed report.html
var reportHTML string

// report is what the page shows: one run, or two side by side.
type report struct {
	Title      string
	A, B       *Run
	DirA, DirB string
	Rows       []row
	Families   []row
	Cases      []pair
	Swap       *Swap
}

type row struct {
	Name    string
	A, B, D Interval
	Bins    []int // cases by tens of points
}

type pair struct {
	A CaseResult
	B *CaseResult
}

var page = template.Must(template.New("report").Funcs(template.FuncMap{
	"num":    func(v float64) string { return fmt.Sprintf("%.1f", v) },
	"signed": func(v float64) string { return fmt.Sprintf("%+.1f", v) },
	"bar": func(i Interval) template.HTML {
		return template.HTML(fmt.Sprintf(`<i style="width:%.1f%%"></i><b style="left:%.1f%%;width:%.1f%%"></b>`, clamp(i.Mean), clamp(i.Low), clamp(i.High)-clamp(i.Low))) // numbers alone
	},
	"side": newSide,
	"part": func(n int, of []int) string {
		return fmt.Sprintf("%.0f", 100*float64(n)/float64(max(1, slices.Max(of))))
	},
	"tens": func(i int) string { return fmt.Sprintf("%d to %d", 10*i, 10*i+10) },
}).Parse(reportHTML))

// WriteReport writes the page of the run in dir, beside it, as one file.
func WriteReport(dir string) (string, error) {
	r, err := Load(dir)
	if err != nil {
		return "", err
	}
	p := report{Title: r.Source, A: r, DirA: dir}
	for _, name := range ui4a.LayerNames {
		if r.Summary.Layers[name].N == 0 { // no case has it
			continue
		}
		p.Rows = append(p.Rows, row{Name: name, A: r.Summary.Layers[name], Bins: r.Summary.Histograms[name]})
	}
	for name, v := range r.Summary.Families {
		p.Families = append(p.Families, row{Name: name, A: v})
	}
	slices.SortFunc(p.Families, func(a, b row) int { return strings.Compare(a.Name, b.Name) })
	for _, c := range r.Cases {
		p.Cases = append(p.Cases, pair{A: c})
	}
	slices.SortStableFunc(p.Cases, func(a, b pair) int { return compare(a.A.Score, b.A.Score) })
	return p.write(filepath.Join(dir, "report.html"))
}

func compare(a, b float64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

func (p report) write(path string) (string, error) {
	var b bytes.Buffer
	if err := page.Execute(&b, p); err != nil {
		return "", err
	}
	if err := os.WriteFile(path, b.Bytes(), 0o644); err != nil {
		return "", disk.Error(err, path+" cannot be written")
	}
	return path, nil
}

// side is one card in the page.
type side struct {
	C      CaseResult
	Source string
	Shots  []shot
	Unmet  []Fault
}

type shot struct {
	Kind, Alt string
	URL       template.URL
}

// newSide takes the first and the last picture of each screen into the page.
func newSide(c any, source, dir string) side {
	var r CaseResult
	switch c := c.(type) {
	case CaseResult:
		r = c
	case *CaseResult:
		r = *c
	}
	s := side{C: r, Source: source, Unmet: faultsOf(r.ID, "", 0, r.Score, r.Layers)}
	for _, v := range r.Views {
		s.Unmet = append(s.Unmet, faultsOf(r.ID, "", v.View.Width, v.Score, v.Layers)...)
		kind := map[bool]string{true: "phone", false: "desk"}[v.View.Width < 600]
		for i, name := range v.Shots {
			if b, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(name))); err == nil && (i == 0 || i == len(v.Shots)-1) {
				alt := map[bool]string{true: "at the start", false: "after the last step"}[i == 0]
				s.Shots = append(s.Shots, shot{kind, fmt.Sprintf("%d px, %s", v.View.Width, alt), template.URL("data:image/webp;base64," + base64.StdEncoding.EncodeToString(b))})
			}
		}
	}
	return s
}
