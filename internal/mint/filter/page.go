package filter

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"html"
	"io"
	"strings"
)

const pageStyle = `:root{color-scheme:light dark;--ink:#222;--bar:#2f6f9f;--paper:#fff;--line:#ccc}@media(prefers-color-scheme:dark){:root{--ink:#ddd;--bar:#6fb1e0;--paper:#181818;--line:#444}}` +
	`body{font:15px/1.5 system-ui,sans-serif;color:var(--ink);background:var(--paper);max-width:46rem;margin:2rem auto;padding:0 1rem}h1{font-size:1.4rem}h2{font-size:1.1rem;margin-top:2rem}` +
	`table{border-collapse:collapse}td,th{border-bottom:1px solid var(--line);padding:.2rem .8rem .2rem 0;text-align:left}svg{max-width:100%;height:auto}svg text{fill:var(--ink);font-size:12px}svg rect{fill:var(--bar)}code{overflow-wrap:anywhere}`

// HTML writes the report as one page that loads nothing and runs nothing.
func (r *Report) HTML(w io.Writer) error {
	sum := sha256.Sum256([]byte(pageStyle))
	var b strings.Builder
	fmt.Fprintf(&b, "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'sha256-%s'; base-uri 'none'; form-action 'none'\">"+
		"<meta name=\"viewport\" content=\"width=device-width\"><title>Dataset %s</title><style>%s</style></head><body>\n", base64.StdEncoding.EncodeToString(sum[:]), r.Dataset.Short(), pageStyle)
	m := r.Manifest
	fmt.Fprintf(&b, "<h1>Dataset</h1><p><code>%s</code></p><p>%d turns and %d runs of %d sessions were read. %d rows were kept (%d train, %d held out), of %d families.</p>\n",
		r.Dataset, m.Source.Turns, m.Source.Runs, m.Source.Sessions, r.Kept, m.Rows["train"], m.Rows["held_out"], m.Families["train"]+m.Families["held_out"])
	if len(m.Evaluations) == 0 {
		b.WriteString("<p><strong>The rows were compared with no evaluation set.</strong></p>\n")
	}
	for _, s := range []struct {
		title string
		all   []Count
	}{
		{"Dropped, by reason", r.Dropped}, {"Length of rows, in characters", r.Chars}, {"Length of rows, in tokens", r.Tokens}, {"Languages", r.Languages}, {"Adapters", r.Adapters}, {"Cards, by outcome", r.Cards}, {"Time", r.Days},
		{"Personal data and secrets in the rows, replaced", r.PII}, {"Duplicates that were dropped", r.Doubles}, {"Parts of evaluations that were dropped", r.Contamination},
	} {
		if len(s.all) > 0 {
			fmt.Fprintf(&b, "<h2>%s</h2>\n%s\n", s.title, bars(s.title, s.all))
		}
	}
	b.WriteString("<h2>Evaluation sets compared with</h2><table><tr><th>set</th><th>items</th><th>digest</th></tr>")
	for _, e := range m.Evaluations {
		fmt.Fprintf(&b, "<tr><td>%s</td><td>%d</td><td><code>%s</code></td></tr>", html.EscapeString(e.Name), e.Items, html.EscapeString(string(e.Digest)))
	}
	fmt.Fprintf(&b, "</table>\n<h2>Deleted since</h2><p>%d rows show what a person has deleted since the dataset was made.</p>\n</body></html>\n", len(r.Tombstones))
	_, err := io.WriteString(w, b.String())
	return err
}

// bars draws counts as horizontal bars, their numbers beside them.
func bars(title string, all []Count) string {
	const most, high, left, wide = 40, 20, 220, 380
	rest := 0
	if len(all) > most {
		for _, c := range all[most:] {
			rest += c.N
		}
		all = append(append([]Count{}, all[:most]...), Count{"all others", rest})
	}
	top := 1
	for _, c := range all {
		top = max(top, c.N)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "<svg viewBox=\"0 0 %d %d\" width=\"%d\" height=\"%d\" role=\"img\" aria-label=\"%s\">", left+wide+80, high*len(all), left+wide+80, high*len(all), html.EscapeString(title))
	for i, c := range all {
		name := strings.TrimSpace(c.Name)
		if runes := []rune(name); len(runes) > 32 {
			name = string(runes[:31]) + "…"
		}
		width := c.N * wide / top
		fmt.Fprintf(&b, "<text x=\"%d\" y=\"%d\" text-anchor=\"end\">%s</text><rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\"/><text x=\"%d\" y=\"%d\">%d</text>",
			left-8, i*high+14, html.EscapeString(name), left, i*high+3, width, high-6, left+width+6, i*high+14, c.N)
	}
	return b.String() + "</svg>"
}
