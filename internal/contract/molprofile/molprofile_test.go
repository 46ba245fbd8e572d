package molprofile

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"macaron/internal/chat"
	"macaron/internal/contract"
	"macaron/internal/errs"
)

func like(t *testing.T) *contract.Contract {
	t.Helper()
	c, err := contract.Load("../../../macaron.toml")
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestAProfileBecomesAContract(t *testing.T) {
	text, notes, err := Import("testdata/Fixture-One", Options{Base: "Tiny-1", Default: "L1", Quoted: true, Like: like(t)})
	if err != nil {
		t.Fatal(err)
	}
	k, err := contract.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	if k.Name != "Fixture-One" || k.Model.Base != "Tiny-1" || k.Router.Adapter != "L0" || k.Router.Default != "L1" {
		t.Errorf("%+v", k)
	}
	want := []contract.Adapter{
		{Name: "L0", Source: "model:small-talk", Description: `talk and facts Boundary: "code" is L1`},
		{Name: "L1", Source: "model:coder", Description: `code \ scripts`},
	}
	if d := cmp.Diff(want, k.Adapters); d != "" {
		t.Error(d)
	}
	route := "Classify the request above. When unsure, the default is L1.\n\nL0: talk and facts Boundary: \"code\" is L1\nL1: code \\ scripts\n\nOne of L0, L1, never {{OTHER}}."
	if d := cmp.Diff(route, k.RouteSystem()); d != "" {
		t.Error(d)
	}
	if got := k.AnswerSystem("L1", nil); got != "You are Fixture-One, built on Tiny-1." {
		t.Errorf("system %q", got)
	}
	if got := k.SummaryPrompt(); got != "Say in one sentence what Fixture-One did." {
		t.Errorf("summary %q", got)
	}
	told := ""
	for _, n := range notes {
		told += n.File + ":" + string(rune('0'+n.Line/10)) + string(rune('0'+n.Line%10)) + " " + n.What + "\n"
	}
	for _, want := range []string{"lora.md:03 it stands before", "lora.md:11 the 2 lines", "lora.md:17 a contract has no place", "lora.md:23 a contract has no section",
		"lora.md:25 a contract has no place", "route.md:01 it says \"above\"", "route.md:01 it tells of a default", "route.md:05 {{OTHER}}", "route.md:06 \"model_id=\"", "intro.md:00"} {
		if !strings.Contains(told, want) {
			t.Errorf("nothing tells of %s in\n%s", want, told)
		}
	}
	if len(notes) != 10 {
		t.Errorf("%d notes:\n%s", len(notes), told)
	}
}

func TestWhatIsNoProfileIsRefused(t *testing.T) {
	if _, _, err := Import(t.TempDir(), Options{Like: like(t)}); errs.CodeOf(err) != errs.NotFound {
		t.Errorf("got %v", err)
	}
	if _, _, err := Import("testdata/Fixture-One", Options{Base: "b", Default: "L7", Like: like(t)}); errs.CodeOf(err) != errs.FormatInvalid {
		t.Errorf("got %v", err)
	}
}

// Whatever lora.md holds, the reader ends, and what it wrote is a contract or refused.
func FuzzAdapters(f *testing.F) {
	f.Add("## L0\nadapter_name: a\n### Description\nx\ny")
	f.Add("### Description\n## \n\"\"\"\\")
	base, err := contract.Load("../../../macaron.toml")
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text string) {
		p := &profile{names: strings.NewReplacer()}
		list, err := p.adapters(text)
		if err != nil {
			return
		}
		k := *base
		k.Adapters, k.Router.Adapter, k.Router.Default, k.Router.Order = list, list[0].Name, list[0].Name, nil
		back, err := contract.Parse(write(&k))
		if err == nil && back.Adapters[0].Description != list[0].Description {
			t.Errorf("%q came back as %q", list[0].Description, back.Adapters[0].Description)
		}
	})
}

// A profile keeps its own prompts unless another layout is asked for: nothing of it is left
// out, and what the harness has in its code stands in the contract.
func TestAProfileKeepsItsPrompts(t *testing.T) {
	text, notes, err := Import("testdata/deployed/Macaron-V1-Tall", Options{Base: "Tiny-1", Default: "L2", Like: like(t)})
	if err != nil {
		t.Fatal(err)
	}
	k, err := contract.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	if k.Router.Layout != contract.LayoutMol || k.Router.Stem != "model_id=" || k.Budgets.RouteTokens != 24 || k.Budgets.SummaryTokens != 192 || k.Router.Default != "L2" {
		t.Errorf("%+v %+v", k.Router, k.Budgets)
	}
	for _, n := range notes {
		if n.Line != 0 && !strings.Contains(n.What, "default") {
			t.Errorf("%+v", n)
		}
	}
	said := []chat.Message{chat.Text(chat.System, "a {{specialist}}"), chat.Text(chat.System, "b")}
	if got, alone := k.AnswerSystem("L1", said), k.AnswerSystem("L1", nil); got != "a {{specialist}}\n\nb\n\n"+alone || !strings.HasPrefix(alone, "You are Macaron-V1-Tall") {
		t.Errorf("%q and %q", got, alone)
	}
}
