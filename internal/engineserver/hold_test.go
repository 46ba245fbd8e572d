package engineserver

import (
	"testing"

	"macaron/internal/errs"
)

// A revision that a request holds outlives its name, and goes when the last one lets go.
func TestWhatIsHeldStays(t *testing.T) {
	n, dropped := list(t)
	dir := t.TempDir()
	one, two := file(t, dir, "one", "1"), file(t, dir, "two", "2")
	if err := n.Load("a", one, false); err != nil {
		t.Fatal(err)
	}
	r, release, err := n.Hold("a")
	if err != nil || r.Hash != "1" {
		t.Fatal(r, err)
	}
	_, again, err := n.Hold("a")
	if err != nil {
		t.Fatal(err)
	}
	if err := n.Load("a", two, true); err != nil || len(*dropped) != 0 {
		t.Fatalf("%v, dropped %q", err, *dropped)
	}
	release()
	release()
	if len(*dropped) != 0 {
		t.Fatalf("dropped %q while one still holds it", *dropped)
	}
	again()
	if len(*dropped) != 1 || (*dropped)[0] != "1" {
		t.Fatalf("dropped %q", *dropped)
	}
	if _, release, err := n.Hold("base"); err != nil {
		t.Error(err)
	} else {
		release()
	}
	if _, _, err := n.Hold("none"); errs.CodeOf(err) != errs.ModelNotFound {
		t.Error(err)
	}
}
