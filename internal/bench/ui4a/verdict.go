package ui4a

// Verdict is a judge's answer to one question: yes is good, and Quote is what in the
// evidence says so.
type Verdict struct {
	Question string `json:"question"`
	Yes      bool   `json:"yes"`
	Quote    string `json:"quote"`
}

// Verdicts are the answers by layer.
type Verdicts map[string][]Verdict
