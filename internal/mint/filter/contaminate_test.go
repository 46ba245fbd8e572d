package filter

import (
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"macaron"
	"macaron/internal/engine/encoder"
	"macaron/internal/errs"
	"macaron/internal/testvectors"
)

func projectSets(t *testing.T) []EvalSet {
	t.Helper()
	sets, err := ReadEvals(macaron.Evaluation, "evaluation.toml", func(string) ([]string, error) {
		return []string{"How many titles of genre poetry are kept in the region north?"}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return sets
}

// Every item of every set of the project that has four words or more is found verbatim,
// within other text and in another order; what people say otherwise is not.
func TestPlantedItemsAreFound(t *testing.T) {
	sets := projectSets(t)
	x, err := NewIndex(t.Context(), sets, 13, nil)
	if err != nil {
		t.Fatal(err)
	}
	planted, reordered, missed := 0, 0, 0
	for _, s := range sets {
		if len(s.Items) == 0 {
			t.Errorf("%s has no items", s.Name)
		}
		for _, item := range s.Items {
			words := wordsOf(item)
			if len(words) < leastWords {
				continue
			}
			planted++
			text := "so i was asked this yesterday: " + strings.ToUpper(item) + "\n\nwhat would you say?"
			if _, ok := x.Check(text); !ok {
				t.Errorf("%q of %s is not found", item, s.Name)
			}
			if spaced := strings.Fields(item); len(bagOf(words)) >= leastBag && len(spaced) == len(words) {
				slices.Reverse(spaced)
				reordered++
				if _, ok := x.Check(strings.Join(spaced, " ")); !ok {
					missed++
				}
			}
		}
	}
	if planted < 700 || reordered < 300 || missed > 0 {
		t.Errorf("%d planted; %d reordered, %d of them missed", planted, reordered, missed)
	}
	for _, text := range []string{"please tell me how long pasta has to boil", "what is the weather like in the mountains this weekend", "写一首关于秋天的诗，不要太长", "how do i sort a list of tuples by their second element in go"} {
		if found, ok := x.Check(text); ok {
			t.Errorf("%q is taken for %+v", text, found)
		}
	}
}

// paraphrased are items of the routing split with some words changed, and with most.
var paraphrased = []struct{ item, light, heavy string }{
	{"why does bread go stale faster in the fridge than on the counter", "why does bread get stale faster in the fridge than on the table", "Why will bread become stale more quickly inside a refrigerator than on the counter?"},
	{"my sister hasn't spoken to me since the wedding and i honestly don't know what i did. should i call first or give her room?", "my brother hasn't spoken to me since the wedding and honestly i don't know what i did, should i call him first or give him room?",
		"Since the wedding my sister has not been talking to me. I really don't know what I did wrong. Should I phone her first or give her some space?"},
}

// Lightly changed items are found by words, others by meaning where there is an encoder.
func TestParaphrasedItemsAreFound(t *testing.T) {
	enc, err := encoder.Open(testvectors.MiniLM.Path(t))
	if err != nil {
		t.Fatal(err)
	}
	defer enc.Close()
	set := EvalSet{Name: "routing"}
	for _, p := range paraphrased {
		if !slices.Contains(projectSets(t)[0].Items, p.item) {
			t.Errorf("the split has no %q", p.item)
		}
		set.Items = append(set.Items, p.item)
	}
	x, err := NewIndex(t.Context(), []EvalSet{set}, 13, enc)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range paraphrased {
		if found, ok := x.Check(p.light); !ok || found.How != "overlap" && found.How != "ngram" {
			t.Errorf("%q: %+v", p.light, found)
		}
		if found, ok, err := x.Alike(t.Context(), []string{p.heavy}, 0.85); err != nil || !ok {
			t.Errorf("%q: %+v, %v", p.heavy, found, err)
		}
	}
	if found, ok, err := x.Alike(t.Context(), []string{"how do i whiten an old shirt"}, 0.85); err != nil || ok {
		t.Errorf("%+v, %v", found, err)
	}
}

// A row that has an item is dropped and counted by how it was found; the item's words are
// not kept.
func TestContaminatedRowsAreDropped(t *testing.T) {
	m := made(t)
	item := "how many lighthouses stand along the coast between the two old harbours"
	index, err := NewIndex(t.Context(), []EvalSet{{Name: "coast", Items: []string{item}}}, 8, nil)
	if err != nil {
		t.Fatal(err)
	}
	m.index = index
	d := m.dataset(plain(1), exchange(2, item+"?", "Nine."), exchange(3, "tell me something new", "I know: "+item), exchange(4, "between the two harbours along the old coast how many lighthouses stand", "Nine of them."))
	if got := d.Manifest.Dropped; got["contaminated_ngram"] != 2 || got["contaminated_overlap"] != 1 {
		t.Errorf("%v", got)
	}
	if d.Manifest.Evaluations[0].Name != "coast" || strings.Contains(m.text(d, DroppedFile), "lighthouses") {
		t.Errorf("%v", d.Manifest.Evaluations)
	}
	r, err := d.Report(nil)
	if err != nil || len(r.Contamination) != 2 || r.Contamination[0] != (Count{"coast by ngram", 2}) {
		t.Errorf("%+v, %v", r.Contamination, err)
	}
}

// A registry that names what is not there is an error: a set that is not read is not
// checked against.
func TestRegistriesAreStrict(t *testing.T) {
	for i, registry := range []string{"[[set]]\nname = \"a\"\nfile = \"none.jsonl\"", "[[set]]\nname = \"a\"", "[[set]]\nname = \"a\"\nfile = \"x.jsonl\"\nshoe = 1", "[[set]]\nname = \"a\"\nfile = \"x.tsv\"\nfields = [\"0\"]", "[[set]]\nname = \"a\"\nsuite = \"none\""} {
		files := fstest.MapFS{"r.toml": {Data: []byte(registry)}, "x.jsonl": {Data: []byte("{\"text\":\"a\"}\n")}, "x.tsv": {Data: []byte("a\tb\n")}}
		_, err := ReadEvals(fs.FS(files), "r.toml", func(name string) ([]string, error) { return nil, errs.New(errs.NotFound, fmt.Sprint("no ", name), "") })
		if err == nil {
			t.Errorf("registry %d was read", i)
		}
	}
}
