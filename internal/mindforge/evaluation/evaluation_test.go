package evaluation

import (
	"bytes"
	"crypto/ed25519"
	"crypto/rand"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"macaron/internal/contract/sign"
	"macaron/internal/errs"
	"macaron/internal/mindforge"
	"macaron/internal/mindforge/scripted"
	"macaron/internal/mindforge/world/compose"
	"macaron/internal/mindforge/world/terminal"
	"macaron/internal/mindforge/world/text"
)

func TestTheShippedContractIsOne(t *testing.T) {
	c, err := Parse(Shipped())
	if err != nil {
		t.Fatal(err)
	}
	if len(c.Primary()) != 1 || len(c.Regressions()) != 3 {
		t.Errorf("%+v", c.Suites)
	}
}

// What an operator is given to sign fits the worlds that it is for: each suite has families of all
// splits, and ten of them are sealed.
func TestContractsFitTheirWorlds(t *testing.T) {
	public, _, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	planted := func(n int) scripted.World {
		p, err := scripted.Setup{Seed: 1, Families: n}.Plant()
		if err != nil {
			t.Fatal(err)
		}
		return scripted.World{Policy: p.Policy}
	}
	real := []mindforge.World{compose.New(), terminal.New(), text.New()}
	for name, x := range map[string]struct {
		write  func() ([]byte, error)
		worlds []mindforge.World
	}{
		"shipped":    {func() ([]byte, error) { return Shipped(public), nil }, real},
		"research":   {func() ([]byte, error) { return Research(public) }, real},
		"planted":    {func() ([]byte, error) { return Planted(200, public) }, []mindforge.World{planted(200)}},
		"planted 60": {func() ([]byte, error) { return Planted(60, public) }, []mindforge.World{planted(60)}},
	} {
		written, err := x.write()
		if err != nil {
			t.Fatal(name, err)
		}
		c, err := Parse(written)
		if err != nil {
			t.Fatal(name, err)
		}
		if err := c.Covers(x.worlds); err != nil || len(c.Approval.Keys) != 1 || c.Approval.Keys[0] != sign.KeyID(public) {
			t.Errorf("%s: %v, %v", name, err, c.Approval)
		}
		for _, s := range c.Suites {
			if n := len(c.Families(s, x.worlds, Sealed)); n < 10 {
				t.Errorf("%s: %s has %d sealed families", name, s.Name, n)
			}
		}
		if c.Covers([]mindforge.World{families{"f"}}) == nil {
			t.Errorf("%s fits a world that it does not name", name)
		}
	}
}

// Each change makes the contract one that is refused, by the key that is at fault.
func TestWhatIsNoContract(t *testing.T) {
	for from, want := range map[string][2]string{
		`version = 2`:                     {"version = 2\nsurprise = 2", "surprise"},
		`budget = 0.05`:                   {`budget = 0.9`, "alpha.budget"},
		`sealed = 50`:                     {`sealed = 51`, "splits"},
		`"validation", "sealed"`:          {`"validation"`, "gates.order"},
		`test = "e-process"`:              {`test = "hope"`, "statistic"},
		`bet = "symmetric"`:               {`bet = "all"`, "statistic.bet"},
		`families = 10`:                   {`families = 0`, "statistic.families"},
		`margin = 0.15`:                   {`margin = 0.0`, "suites.compose"},
		`for = ["permissions"]`:           {`for = ["nothing"]`, "approval"},
		`share = 0.05`:                    {`share = 0.9`, "gates.canary.share"},
		`constant = 0.8`:                  {`constant = nan`, "hacking.constant"},
		`schema = "macaron.evaluation/1"`: {`schema = "macaron.evaluation/2"`, "schema"},
	} {
		_, err := Parse(bytes.Replace(Shipped(), []byte(from), []byte(want[0]), 1))
		if errs.CodeOf(err) != errs.FormatInvalid || !strings.Contains(err.Error(), want[1]) {
			t.Errorf("%s: %v", want[0], err)
		}
	}
	if _, err := Parse(make([]byte, MaxBytes+1)); errs.CodeOf(err) != errs.TooLarge {
		t.Error(err)
	}
}

// rig writes the shipped contract with a signature.
func rig(t *testing.T) (path string, trusted []ed25519.PublicKey) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "evaluation.toml")
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	sig, err := Sign(Shipped(), private, nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string][]byte{path: Shipped(), path + sign.Suffix: sig} {
		if err := os.WriteFile(name, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return path, []ed25519.PublicKey{public}
}

// Every byte of the file, comments too, and every byte of the signature is watched.
func TestAChangedByteIsFound(t *testing.T) {
	path, trusted := rig(t)
	if s, err := Open(path, trusted); err != nil || len(s.Keys) != 1 {
		t.Fatal(err)
	}
	if _, err := Open(path, nil); errs.CodeOf(err) != errs.ChecksumMismatch {
		t.Errorf("nobody is trusted: %v", err)
	}
	for _, name := range []string{path, path + sign.Suffix} {
		whole, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for at := 0; at < len(whole); at += 1 + len(whole)/60 {
			bent := bytes.Clone(whole)
			bent[at] ^= 1
			if err := os.WriteFile(name, bent, 0o600); err != nil {
				t.Fatal(err)
			}
			if _, err := Open(path, trusted); err == nil {
				t.Errorf("byte %d of %s is another, and nobody minds", at, filepath.Base(name))
			}
		}
		if err := os.WriteFile(name, whole, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Rename(path, path+".real"); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(path+".real", path); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(path, trusted); errs.CodeOf(err) != errs.Forbidden {
		t.Errorf("a link is followed: %v", err)
	}
}

// families is a world that has nothing but names.
type families []string

func (families) Name() string         { return "compose" }
func (f families) Families() []string { return f }
func (families) Make(string, int, uint64) (mindforge.Task, error) {
	return mindforge.Task{}, nil
}
func (families) Harder(t mindforge.Task, _ mindforge.Way, _ uint64) (mindforge.Task, error) {
	return t, nil
}

// Splits have about the shares that are asked for, a family is in one of them whatever its
// suite is, and another salt divides otherwise.
func TestSplitsGoByFamily(t *testing.T) {
	c, err := Parse(bytes.Replace(Shipped(), []byte(`families = ["rest"]`), []byte(`families = ["compose/f7", "rest"]`), 1))
	if err != nil {
		t.Fatal(err)
	}
	var w families
	for i := range 1000 {
		w = append(w, fmt.Sprint("f", i))
	}
	worlds, counts := []mindforge.World{w}, map[Split]int{}
	for _, s := range []Split{Train, Validation, Sealed} {
		counts[s] = len(c.Families(c.Suites[0], worlds, s))
	}
	if all := counts[Train] + counts[Validation] + counts[Sealed]; all != 1000 || counts[Train] < 270 || counts[Train] > 370 || counts[Validation] < 140 || counts[Validation] > 220 {
		t.Error(counts)
	}
	rest := 0
	for _, s := range []Split{Train, Validation, Sealed} {
		rest += len(c.Families(c.Suites[1], worlds, s))
	}
	if rest != 999 {
		t.Errorf("the rest has %d families; f7 is the primary suite's alone", rest)
	}
	other, moved := c.Splits, 0
	other.Salt += "x"
	for _, f := range w {
		if other.Of("compose", f) != c.Splits.Of("compose", f) {
			moved++
		}
	}
	if moved < 300 {
		t.Errorf("another salt moves %d of 1,000 families", moved)
	}
}

// A candidate that goes the whole way takes what docs/formats/evaluation.md says.
func TestAttemptsOfTheWholeWay(t *testing.T) {
	research, err := Research()
	if err != nil {
		t.Fatal(err)
	}
	for want, text := range map[int][]byte{1928: Shipped(), 242: research} {
		c, err := Parse(text)
		if err != nil || c.Attempts(48) != want {
			t.Errorf("%s: %d attempts, %v; not %d", c.Name, c.Attempts(48), err, want)
		}
	}
}
