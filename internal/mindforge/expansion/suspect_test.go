package expansion

import (
	"encoding/json"
	"testing"

	"macaron/internal/record"
	"macaron/internal/transcript"
)

// An answer that a call gave is found in what it gave, whatever marks it has: as a text, within an
// object, or in a list; and nothing else is.
func TestAnswersStandInResults(t *testing.T) {
	for _, answer := range []string{"42", "-7.50", `papaya,"grape, dry",kiwi`, "coat, sock", "a.txt\nb.txt", "Nora: 3. Otto: 4.", `<b> & "x"`, "1,5", "see above. then: go"} {
		for _, value := range []any{answer, map[string]any{"text": "first\n" + answer + "\nlast", "more": true}, []string{"other", answer}} {
			raw, err := json.Marshal(value)
			if err != nil {
				t.Fatal(err)
			}
			c := &transcript.Call{Called: &record.ToolCalled{Name: "f"}, Returned: &record.ToolReturned{Name: "f", Value: raw}}
			found := func(answer string) bool {
				for _, r := range results(c) {
					if hasWord(plain(r), plain(answer)) {
						return true
					}
				}
				return false
			}
			if !found(answer) {
				t.Errorf("%q is not found in %s", answer, raw)
			}
			for _, other := range []string{answer + " more", "no " + answer, "zebra"} {
				if found(other) {
					t.Errorf("%q is found in %s", other, raw)
				}
			}
		}
	}
	c := &transcript.Call{Called: &record.ToolCalled{Name: "f"}, Returned: &record.ToolReturned{Name: "f", Value: json.RawMessage(`{"lines": 12345678901234567890, "n": 3}`)}}
	if all := results(c); len(all) != 4 || !(all[2] == "3" || all[3] == "3") || !(all[2] == "12345678901234567890" || all[3] == "12345678901234567890") {
		t.Errorf("numbers are not as they are written: %q", all)
	}
}
