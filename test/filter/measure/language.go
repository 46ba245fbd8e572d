package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"

	"macaron/internal/mindforge/stat"
	"macaron/internal/mint/filter"
)

// languages says how often the language of a text is told, told wrongly, or left open.
func languages(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	right, wrong := map[string][]stat.Value{}, map[string][]stat.Value{}
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for n := 0; lines.Scan(); n++ {
		var t struct{ Text, Lang string }
		if err := json.Unmarshal(lines.Bytes(), &t); err != nil {
			return err
		}
		got := filter.Language(t.Text)
		for _, k := range []string{t.Lang, "all"} {
			right[k] = append(right[k], value(n, got == t.Lang))
			wrong[k] = append(wrong[k], value(n, got != t.Lang && got != filter.Unknown))
		}
	}
	fmt.Printf("\nlanguages of %s\n| language | texts | told | 95 %% | told wrongly | 95 %% |\n|---|---|---|---|---|---|\n", path)
	for _, k := range slices.Sorted(maps.Keys(right)) {
		r, w := stat.Mean(right[k], 0, 1), stat.Mean(wrong[k], 0, 1)
		fmt.Printf("| %s | %d | %.3f | %.3f to %.3f | %.3f | %.3f to %.3f |\n", k, r.N, r.Mean, r.Low, r.High, w.Mean, w.Low, w.High)
	}
	return lines.Err()
}

func value(n int, yes bool) stat.Value {
	v := stat.Value{Cluster: fmt.Sprint(n)}
	if yes {
		v.Y = 1
	}
	return v
}
