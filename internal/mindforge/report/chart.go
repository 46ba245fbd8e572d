package report

import (
	"fmt"
	"html"
	"math"
	"slices"
	"strings"
	"unicode"
)

// Point is a value with its interval.
type Point struct{ X, Y, Low, High float64 }

// Line is one line of a chart.
type Line struct {
	Name   string
	Points []Point
}

// Chart is a plot of shares, 0 to 1, with intervals. Lines differ by colour, dashes and marks.
type Chart struct {
	Title, X, Y string
	Lines       []Line
}

// Measures of a chart, in pixels of its own.
const (
	wide, high  = 640.0, 300.0 // of the plot with its axes
	left, right = 64.0, 16.0
	top, bottom = 14.0, 44.0
	legend      = 20.0 // a row
	maxTicks    = 7
	maxName     = 48
)

// style has both schemes: a chart stands in a page, or in a file of its own.
const style = `<style>.fc{--f:#191b20;--m:#585f6c;--g:#dcdfe5;--c0:#1d56c9;--c1:#a3500f;--c2:#1c7a3d;--c3:#9a2f8f;--c4:#8a1c1c;font:12px system-ui,sans-serif}` +
	`@media(prefers-color-scheme:dark){.fc{--f:#eceef2;--m:#a4abb8;--g:#363a43;--c0:#8ab2ff;--c1:#f0a868;--c2:#7fd69b;--c3:#e29bdb;--c4:#ff9d94}}` +
	`.fc text{fill:var(--m)}.fc .n{fill:var(--f)}.fc .g{stroke:var(--g)}.fc .l{fill:none;stroke-width:2}` +
	`.fc .k0{stroke:var(--c0)}.fc .k1{stroke:var(--c1)}.fc .k2{stroke:var(--c2)}.fc .k3{stroke:var(--c3)}.fc .k4{stroke:var(--c4)}` +
	`.fc .a0{fill:var(--c0)}.fc .a1{fill:var(--c1)}.fc .a2{fill:var(--c2)}.fc .a3{fill:var(--c3)}.fc .a4{fill:var(--c4)}.fc .b{opacity:.13}</style>`

const colours = 5

var dashes = []string{"", "6 3", "2 3", "8 3 2 3", "12 4"}

// frame is where values lie.
type frame struct{ x0, x1 float64 }

func (f frame) x(v float64) float64 { return left + (v-f.x0)/(f.x1-f.x0)*(wide-left-right) }
func (f frame) y(v float64) float64 { return top + (1-v)*(high-top-bottom) }

// SVG draws it. Names are texts of strangers; everything else is a number.
func (c Chart) SVG() string {
	lines := c.finite()
	f := frame{0, 1}
	for i, l := range lines {
		for j, p := range l.Points {
			if i+j == 0 {
				f = frame{p.X, p.X}
			}
			f.x0, f.x1 = min(f.x0, p.X), max(f.x1, p.X)
		}
	}
	if f.x0 == f.x1 {
		f.x0, f.x1 = f.x0-0.5, f.x1+0.5
	}
	var b strings.Builder
	fmt.Fprintf(&b, `<svg class="fc" xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %g %g" role="img" aria-label="%s">%s`, wide, high+legend*float64((len(lines)+1)/2), text(c.Title), style)
	c.axes(&b, f)
	for i, l := range lines {
		draw(&b, f, i, l)
	}
	for i, l := range lines {
		x, y := left+float64(i%2)*(wide-left-right)/2, high+legend*float64(i/2)+8
		fmt.Fprintf(&b, `<path class="l k%d" stroke-dasharray="%s" d="M%.1f %.1fh26"/>`, i%colours, dashes[i%len(dashes)], x, y)
		mark(&b, i, x+13, y)
		fmt.Fprintf(&b, `<text class="n" x="%.1f" y="%.1f">%s</text>`, x+32, y+4, text(l.Name))
	}
	b.WriteString("</svg>")
	return b.String()
}

// finite leaves out what cannot be drawn.
func (c Chart) finite() (out []Line) {
	for _, l := range c.Lines {
		l.Points = slices.DeleteFunc(slices.Clone(l.Points), func(p Point) bool {
			sum := p.X + p.Y + p.Low + p.High
			return math.IsNaN(sum) || math.IsInf(sum, 0)
		})
		for i, p := range l.Points {
			l.Points[i] = Point{p.X, share(p.Y), share(p.Low), share(p.High)}
		}
		if len(l.Points) > 0 {
			out = append(out, l)
		}
	}
	return out
}

func share(v float64) float64 { return max(0, min(1, v)) }

// axes draws the grid with its numbers.
func (c Chart) axes(b *strings.Builder, f frame) {
	for i := range 5 {
		v := float64(i) / 4
		fmt.Fprintf(b, `<path class="g" d="M%g %.1fH%g"/><text x="%g" y="%.1f" text-anchor="end">%.0f %%</text>`, left, f.y(v), wide-right, left-6, f.y(v)+4, 100*v)
	}
	for _, v := range ticks(f.x0, f.x1) {
		fmt.Fprintf(b, `<path class="g" d="M%.1f %.1fv4"/><text x="%.1f" y="%.1f" text-anchor="middle">%g</text>`, f.x(v), f.y(0), f.x(v), f.y(0)+18, v)
	}
	fmt.Fprintf(b, `<text class="n" x="%.1f" y="%.1f" text-anchor="middle">%s</text>`, (left+wide-right)/2, high-8, text(c.X))
	fmt.Fprintf(b, `<text class="n" transform="translate(12 %.1f) rotate(-90)" text-anchor="middle">%s</text>`, (top+high-bottom)/2, text(c.Y))
}

// ticks are round numbers in a range.
func ticks(from, to float64) (out []float64) {
	step := math.Pow(10, math.Floor(math.Log10((to-from)/maxTicks)))
	for _, m := range []float64{1, 2, 5, 10, 20} {
		if (to-from)/(m*step) <= maxTicks {
			step *= m
			break
		}
	}
	step = max(step, 1) // attempts and generations are whole
	for v := math.Ceil(from/step) * step; v <= to+step*1e-9; v += step {
		out = append(out, v+0) // no -0
	}
	return out
}

// draw draws a line over the band of its intervals, which end in caps.
func draw(b *strings.Builder, f frame, i int, l Line) {
	var d, up, down, caps strings.Builder
	for j, p := range l.Points {
		fmt.Fprintf(&d, "%s%.1f %.1f", map[bool]string{true: "M", false: "L"}[j == 0], f.x(p.X), f.y(p.Y))
		fmt.Fprintf(&up, "%s%.1f %.1f", map[bool]string{true: "M", false: "L"}[j == 0], f.x(p.X), f.y(p.High))
		at := l.Points[len(l.Points)-1-j]
		fmt.Fprintf(&down, "L%.1f %.1f", f.x(at.X), f.y(at.Low))
		fmt.Fprintf(&caps, "M%.1f %.1fh6m-3 0V%.1fm-3 0h6", f.x(p.X)-3, f.y(p.High), f.y(p.Low))
	}
	k := i % colours
	fmt.Fprintf(b, `<path class="b a%d" d="%s%sZ"/><path class="k%d" opacity=".45" fill="none" d="%s"/>`, k, up.String(), down.String(), k, caps.String())
	fmt.Fprintf(b, `<path class="l k%d" stroke-dasharray="%s" d="%s"/>`, k, dashes[i%len(dashes)], d.String())
	for _, p := range l.Points {
		mark(b, i, f.x(p.X), f.y(p.Y))
	}
}

// marks of lines, one a line.
var marks = []string{"m-4 0a4 4 0 1 0 8 0a4 4 0 1 0-8 0", "m-4-4h8v8h-8z", "m0-5l5 9h-10z", "m0-5l5 5-5 5-5-5z", "m-5-4h10l-5 9z"}

func mark(b *strings.Builder, i int, x, y float64) {
	fmt.Fprintf(b, `<path class="a%d" d="M%.1f %.1f%s"/>`, i%colours, x, y, marks[i%len(marks)])
}

// text is a name as a page can show it: bounded, without what turns a line around, escaped.
func text(s string) string {
	r := []rune(plain(s))
	if len(r) > maxName {
		r = append(r[:maxName-1], '…')
	}
	return html.EscapeString(string(r))
}

// plain shows characters that control or format as what they are.
func plain(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.In(r, unicode.Cc, unicode.Cf) {
			return '\ufffd'
		}
		return r
	}, strings.ToValidUTF8(s, "\ufffd"))
}
