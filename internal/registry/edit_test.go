package registry

import (
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"macaron/internal/contract"
	"macaron/internal/errs"
)

func TestInsertAppendsAndOrders(t *testing.T) {
	got, err := Insert([]byte(head+block0+block1), Addition{Adapter: contract.Adapter{Name: "L2", Title: "T", Source: "x", Description: "d\ttab", Prompt: "p"}, Before: "L0"}, contract.Parse)
	if err != nil {
		t.Fatal(err)
	}
	want := strings.Replace(head, "'L0' ]", `"L2", 'L0' ]`, 1) + block0 + block1 +
		"\n[[adapters]]\nname = \"L2\"\ntitle = \"T\"\nsource = \"x\"\ndescription = \"d\\ttab\"\nprompt = \"p\"\n"
	if string(got) != want {
		t.Errorf("got\n%s", got)
	}
}

func TestReplaceChangesOnlyWhatIsGiven(t *testing.T) {
	got, err := Insert([]byte(head+block0+block1), Addition{Adapter: contract.Adapter{Name: "L1", Source: "y", Prompt: "p"}, Replace: true}, contract.Parse)
	if err != nil {
		t.Fatal(err)
	}
	want := head + block0 + strings.Replace(block1, `"model:other"`, `"y"`, 1) + "prompt = \"p\"\n"
	if string(got) != want {
		t.Errorf("got\n%s", got)
	}
}

func TestDeleteLeavesCommentsOfOthers(t *testing.T) {
	text := head + block1 + "\n# about the next\n" + block0[1:]
	got, err := Delete([]byte(text), "L1", contract.Parse)
	if err != nil {
		t.Fatal(err)
	}
	want := strings.Replace(head, `"L1", `, "", 1) + "\n# the other one\n" + "\n# about the next\n" + block0[1:]
	if string(got) != want {
		t.Errorf("got\n%s", got)
	}
}

func TestEditsThatAreRefused(t *testing.T) {
	inlined := strings.Replace(head, "\n[model]", "adapters = [{name='L0', source='L0', description='d'}, {name='L1', source='L0', description='d'}]\n\n[model]", 1)
	for name, tc := range map[string]struct {
		code errs.Code
		make func() ([]byte, error)
	}{
		"twice": {errs.InvalidRequest, func() ([]byte, error) {
			return Insert([]byte(head+block0+block1), Addition{Adapter: contract.Adapter{Name: "L1", Source: "x", Description: "d"}}, contract.Parse)
		}},
		"bad name": {errs.InvalidRequest, func() ([]byte, error) {
			return Insert([]byte(head+block0+block1), Addition{Adapter: contract.Adapter{Name: "../x", Source: "x", Description: "d"}}, contract.Parse)
		}},
		"no text": {errs.FormatInvalid, func() ([]byte, error) {
			return Insert([]byte(head+block0+block1), Addition{Adapter: contract.Adapter{Name: "L2", Source: "x"}}, contract.Parse)
		}},
		"before whom": {errs.InvalidRequest, func() ([]byte, error) {
			return Insert([]byte(head+block0+block1), Addition{Adapter: contract.Adapter{Name: "L2", Source: "x", Description: "d"}, Before: "L9"}, contract.Parse)
		}},
		"not TOML": {errs.FormatInvalid, func() ([]byte, error) {
			return Insert([]byte("= ="), Addition{Adapter: contract.Adapter{Name: "L2"}}, contract.Parse)
		}},
		"inline insert": {errs.FormatInvalid, func() ([]byte, error) {
			return Insert([]byte(inlined), Addition{Adapter: contract.Adapter{Name: "L2", Source: "x", Description: "d"}}, contract.Parse)
		}},
		"inline delete": {errs.Unsupported, func() ([]byte, error) { return Delete([]byte(inlined), "L1", contract.Parse) }},
		"the router":    {errs.InvalidRequest, func() ([]byte, error) { return Delete([]byte(head+block0+block1), "L0", contract.Parse) }},
		"unknown":       {errs.AdapterNotFound, func() ([]byte, error) { return Delete([]byte(head+block0+block1), "L7", contract.Parse) }},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := tc.make()
			if e := errs.As(err); e == nil || e.Code != tc.code || got != nil {
				t.Errorf("got %+v", e)
			}
		})
	}
}

// Whatever is added can be taken out again, and then nothing has changed.
func TestInsertThenDeleteIsNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		line := rapid.StringMatching(`[^\r\n]{0,30}[^\s]`).Filter(func(s string) bool { return strings.TrimSpace(s) != "" }) // a blank one is none
		a := contract.Adapter{
			Name: rapid.StringMatching(`N[A-Za-z0-9._-]{0,20}`).Draw(t, "name"), Title: line.Draw(t, "title"), Source: "x",
			Description: line.Draw(t, "description"), Prompt: rapid.String().Draw(t, "prompt"),
		}
		add := Addition{Adapter: a, Before: rapid.SampledFrom([]string{"", "L0", "L1"}).Draw(t, "before")}
		text := head + block0 + block1 + rapid.SampledFrom([]string{"", "# end\n", "\n\n"}).Draw(t, "tail")
		with, err := Insert([]byte(text), add, contract.Parse)
		if err != nil {
			t.Fatal(err)
		}
		k, err := contract.Parse(with)
		if err != nil {
			t.Fatal(err)
		}
		if got, _ := k.Adapter(a.Name); !reflect.DeepEqual(got, a) {
			t.Fatalf("got %+v, want %+v", got, a)
		}
		back, err := Delete(with, a.Name, contract.Parse)
		if err != nil {
			t.Fatal(err)
		}
		if string(back) != text {
			t.Fatalf("got\n%s", back)
		}
	})
}

func FuzzScan(f *testing.F) {
	for _, s := range []string{head + block0 + block1, "", "[[adapters]]", "[[adapters]]\nname='x'", "router.order=['a']", "[router]\norder=[\n#c\n'a',]", "a = \"\"\"\n[[adapters]]\"\"\""} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		l, err := scan(text)
		if err != nil {
			return
		}
		for _, b := range l.blocks {
			if b.from < 0 || b.from > b.to || b.to > len(text) {
				t.Fatalf("block %+v of %d bytes", b, len(text))
			}
		}
		for _, it := range l.order {
			if it.from < 0 || it.from >= it.to || it.to > len(text) {
				t.Fatalf("item %+v of %d bytes", it, len(text))
			}
		}
	})
}
