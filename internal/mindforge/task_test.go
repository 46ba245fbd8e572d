package mindforge

import (
	"testing"

	"macaron/internal/ids"
)

// Constants do not make a new problem; another tool, another flow of data, another order do.
func TestFormForgetsConstants(t *testing.T) {
	form := func(calls ...Call) ids.Digest {
		d, err := Solution{Calls: calls, Answer: "x"}.Form()
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	count := func(region, of string) []Call {
		return []Call{{"orders", map[string]string{"region": region}}, {"count", map[string]string{"of": of}}}
	}
	base := form(count("EU", "$0")...)
	if form(count("NA", "$0")...) != base {
		t.Error("another constant is another form")
	}
	if form(count("EU", "7")...) == base {
		t.Error("a constant in place of a result is the same form")
	}
	if form(Call{"orders", map[string]string{"region": "EU"}}, Call{"sum", map[string]string{"of": "$0"}}) == base {
		t.Error("another tool is the same form")
	}
}
