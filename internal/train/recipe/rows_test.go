package recipe

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"macaron/internal/chat"
	"macaron/internal/errs"
	"macaron/internal/ids"
)

// letters writes conversations as the default model's template does, a token a letter.
func letters(messages []chat.Message, open bool) ([]int32, error) {
	text := ""
	for _, m := range messages {
		text += "<" + string(m.Role[0]) + ":" + m.Text() + ">\n"
	}
	if open {
		text += "<a:"
	}
	return []int32(slices.Collect(func(yield func(int32) bool) {
		for _, r := range text {
			if !yield(r) {
				return
			}
		}
	})), nil
}

func spelled(tokens []int32) string { return string(tokens) }

// TestWhatIsLearned: the text of an answer and what ends its turn, of those named or of
// all; nothing that a template writes after it, nor what follows the last one.
func TestWhatIsLearned(t *testing.T) {
	m := &Machine{Encode: letters, Decode: spelled}
	talk := []message{{"system", "s"}, {"user", "u"}, {"assistant", "one"}, {"user", "v"}, {"assistant", "two"}, {"user", "w"}}
	for name, c := range map[string]struct {
		train []int
		want  string
	}{"all": {nil, "one>two>"}, "the first": {[]int{2}, "one>"}, "the last": {[]int{4}, "two>"}} {
		r, err := m.encode(&line{Messages: talk, Train: c.train})
		if err != nil {
			t.Fatal(err)
		}
		var got []int32
		for i, w := range r.weights {
			if w != 0 {
				got = append(got, r.tokens[i])
			}
		}
		if spelled(got) != c.want || r.weights[len(r.weights)-1] != 1 {
			t.Errorf("%s: %q, want %q", name, spelled(got), c.want)
		}
	}
}

// TestTheTeachersSystemText replaces the row's, or stands before it.
func TestTheTeachersSystemText(t *testing.T) {
	d := &Distill{System: "be"}
	with := d.told(line{Messages: []message{{"system", "s"}, {"user", "u"}, {"assistant", "a"}}, Train: []int{2}})
	if with.Messages[0].Content != "be" || len(with.Messages) != 3 || with.Train[0] != 2 {
		t.Errorf("%+v", with)
	}
	without := d.told(line{Messages: []message{{"user", "u"}, {"assistant", "a"}}, Train: []int{1}})
	if len(without.Messages) != 3 || without.Train[0] != 2 {
		t.Errorf("%+v", without)
	}
}

// TestTheTeachersSystemTextFits: a row that the teacher could not read is refused before a step,
// by its line, for both kinds of distillation.
func TestTheTeachersSystemTextFits(t *testing.T) {
	m := &Machine{Encode: letters, Decode: spelled, Context: 40}
	lines := []line{{Messages: []message{{"user", "u"}, {"assistant", "a"}}, at: 7}}
	r := &Recipe{Data: Data{Train: "rows.jsonl"}, Run: Run{Epochs: 1, Batch: 1}, RL: RL{Group: 1, MaxTokens: 4}}
	for system, fits := range map[string]bool{"be": true, strings.Repeat("be", 20): false} {
		r.Distill = Distill{System: system, Top: 2}
		_, soft := newSoft(r, m, lines, nil, nil)
		_, own := newOwn(r, m, lines, nil)
		for kind, err := range map[string]error{"soft": soft, "own": own} {
			if fits != (err == nil) || !fits && (errs.CodeOf(err) != errs.ContextExceeded || !strings.Contains(err.Error(), "line 7 of rows.jsonl")) {
				t.Errorf("%s, %d letters: %v", kind, len(system), err)
			}
		}
	}
}

// TestAdvantages: within a group they sum to zero, and a group of equals has none.
func TestAdvantages(t *testing.T) {
	o := &rollouts{m: &Machine{Decode: spelled}, r: &Recipe{RL: RL{Normalise: true, Reward: Reward{Kind: "exact"}}}}
	l := &line{Answer: "x"}
	var all []taken
	for _, s := range []string{"x", "y", "y", "y", "x", "x", "x", "x"} {
		all = append(all, taken{line: l, prompt: []int32{1}, answer: Answer{Tokens: []int32(nil), Logprobs: nil}})
		all[len(all)-1].answer.Tokens = []int32{int32(s[0])}
	}
	m, err := o.judge(t.Context(), all, 4)
	if err != nil || m["reward"] != 5./8 || m["answer_tokens"] != 1 {
		t.Fatal(m, err)
	}
	for i, want := range []float64{math.Sqrt(3), -1 / math.Sqrt(3), -1 / math.Sqrt(3), -1 / math.Sqrt(3), 0, 0, 0, 0} {
		if got := float64(all[i].advantages[0]); math.Abs(got-want) > 1e-4 {
			t.Errorf("answer %d has the advantage %v, want %v", i, got, want)
		}
	}
}

// TestTheDatasetOfAFile: it is the one whose manifest lists the file as it is; a file that was
// changed since is no dataset's.
func TestTheDatasetOfAFile(t *testing.T) {
	path, rows := filepath.Join(t.TempDir(), "train.jsonl"), []byte("{}\n")
	if d := datasetOf(path, ids.DigestOf(rows)); d != "" {
		t.Errorf("without a manifest: %s", d)
	}
	manifest := fmt.Appendf(nil, `{"files":{"train.jsonl":{"digest":%q,"bytes":3,"lines":1}}}`, ids.DigestOf(rows))
	if err := os.WriteFile(filepath.Join(filepath.Dir(path), "manifest.json"), manifest, 0o600); err != nil {
		t.Fatal(err)
	}
	if d := datasetOf(path, ids.DigestOf(rows)); d != ids.DigestOf(manifest) {
		t.Errorf("listed: %q", d)
	}
	if d := datasetOf(path, ids.DigestOf([]byte("other"))); d != "" {
		t.Errorf("changed since: %s", d)
	}
}
