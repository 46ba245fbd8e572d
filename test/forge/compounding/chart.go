package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"macaron/internal/disk"
	"macaron/internal/errs"
	"macaron/internal/mindforge/report"
	"macaron/internal/mindforge/stat"
)

// drawn writes a chart and a table of the results in a directory: each arm over its seeds, a family
// of tasks as one cluster whatever the seed.
func drawn(dir string) error {
	paths, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil {
		return err
	}
	all := map[string][]result{}
	var first *result
	for _, p := range paths {
		raw, err := os.ReadFile(p)
		if err != nil {
			return disk.Error(err, p+" cannot be read")
		}
		var r result
		if err := json.Unmarshal(raw, &r); err != nil || r.Schema != schema {
			return errs.Newf(errs.FormatInvalid, "%s is no result", p)
		}
		if first == nil {
			first = &r
		}
		if r.Hashes != first.Hashes {
			return errs.New(errs.FormatInvalid, p+" is a result of another start, model, catalogue or evaluation contract: it had other sealed tasks, and is not compared", "move it away, or run its arm and seed again")
		}
		all[r.Arm] = append(all[r.Arm], r)
	}
	c := report.Chart{Title: "Share of sealed tasks that each generation's champion passes", X: "generation", Y: "passed"}
	var table strings.Builder
	table.WriteString("| arm | seeds | generation | passed (95 % by families) | gain on the start | attempts of the loops | trained tokens | processor s, all seeds |\n|---|---|---|---|---|---|---|---|\n")
	for _, arm := range arms {
		if len(all[arm]) > 0 {
			c.Lines = append(c.Lines, line(arm, all[arm], &table))
		}
	}
	table.WriteString(verdicts(all))
	for name, text := range map[string]string{"compounding.svg": c.SVG() + "\n", "compounding.md": table.String()} {
		if err := disk.Replace(filepath.Join(filepath.Dir(dir), name), []byte(text), 0o644); err != nil {
			return err
		}
	}
	fmt.Print(table.String())
	return nil
}

// verdicts is a table of what the update and the gate said, but for the stages that only show that
// a candidate runs.
func verdicts(all map[string][]result) string {
	var b strings.Builder
	b.WriteString("\n| arm | seed | generation | what the update and the gate said |\n|---|---|---|---|\n")
	for _, arm := range arms {
		for _, r := range all[arm] {
			for _, c := range r.Champions {
				said := slices.DeleteFunc(slices.Clone(c.Said), func(s string) bool {
					return strings.Contains(s, "/lint: true") || strings.Contains(s, "/smoke: true")
				})
				if len(said) > 0 {
					fmt.Fprintf(&b, "| %s | %d | %d | %s |\n", arm, r.Seed, c.Generation, strings.Join(said, "<br>"))
				}
			}
		}
	}
	return b.String()
}

// line is an arm's line of the chart; its rows go into the table.
func line(arm string, all []result, table *strings.Builder) report.Line {
	l := report.Line{Name: fmt.Sprintf("%s, %d seeds", arm, len(all))}
	for g := 0; ; g++ {
		var passed, gained []stat.Value
		n, attempts, trained, ms := 0, 0, int64(0), int64(0)
		for _, r := range all {
			if g >= len(r.Champions) {
				continue
			}
			n++
			now := values(r.Champions[g].Items)
			passed = append(passed, now...)
			for i, v := range values(r.Champions[0].Items) {
				gained = append(gained, stat.Value{Cluster: v.Cluster, Y: now[i].Y - v.Y})
			}
			for _, c := range r.Spent {
				attempts, trained, ms = attempts+c.Attempts, trained+c.Trained, ms+c.CPUMS
			}
		}
		if n == 0 {
			return l
		}
		p, d := stat.Mean(passed, 0, 1), stat.Mean(gained, -1, 1)
		l.Points = append(l.Points, report.Point{X: float64(g), Y: p.Mean, Low: p.Low, High: p.High})
		fmt.Fprintf(table, "| %s | %d | %d | %s | %s | %d | %d | %d |\n", arm, n, g, p, d, attempts, trained, ms/1000)
	}
}
