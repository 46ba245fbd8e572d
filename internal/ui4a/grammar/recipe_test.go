package grammar

import (
	"bytes"
	"cmp"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"macaron/internal/ui4a"
	"macaron/internal/ui4a/compile"
)

// What L3 of the default set is trained on it could say within the grammar, and the
// compiler finds nothing in its cards, not even what a warning is for.
func TestTheRecipeTeachesTheGrammar(t *testing.T) {
	g := language(t)
	shapes, prose := map[string]int{}, 0
	for _, text := range learned(t) {
		m := g.Start()
		if err := m.AcceptBytes([]byte(text)); err != nil || !m.Accepting() {
			t.Errorf("outside of the grammar: %v\n%s", err, text)
		}
		blocks := ui4a.SplitFences(text)
		if len(blocks) != 1 || !blocks[0].Card {
			prose++
			continue
		}
		if _, found := compile.Compile(blocks[0].Text, compile.Options{}); len(found) > 0 {
			t.Errorf("%v\n%s", found, blocks[0].Text)
		}
		head, _, _ := strings.Cut(blocks[0].Text, "export default")
		shapes[head]++
	}
	if len(shapes) < 17 || prose < 100 {
		t.Errorf("%d heads of cards, %d answers in prose", len(shapes), prose)
	}
}

// learned are the answers of the recipe's rows, those of the development split too.
func learned(t *testing.T) (out []string) {
	t.Helper()
	dir := t.TempDir()
	make := exec.CommandContext(t.Context(), cmp.Or(os.Getenv("MACARON_PYTHON"), "python3"), filepath.Join("..", "..", "..", "recipes", "default-set", "export.py"), dir, "L3")
	if text, err := make.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	for _, split := range []string{"train", "dev"} {
		raw, err := os.ReadFile(filepath.Join(dir, "L3."+split+".jsonl"))
		if err != nil {
			t.Fatal(err)
		}
		for line := range bytes.Lines(raw) {
			var row struct {
				Messages []struct{ Content string }
				Train    []int
			}
			if err := json.Unmarshal(line, &row); err != nil {
				t.Fatal(err)
			}
			for _, i := range row.Train {
				out = append(out, row.Messages[i].Content)
			}
		}
	}
	return out
}
