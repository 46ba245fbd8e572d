package token

// addedJSON is a token that is taken as a whole.
type addedJSON struct {
	ID         int64  `json:"id"`
	Content    string `json:"content"`
	SingleWord bool   `json:"single_word"`
	Left       bool   `json:"lstrip"`
	Right      bool   `json:"rstrip"`
	Normalized bool   `json:"normalized"`
	Special    bool   `json:"special"`
}

// addedJSON files an added token and gives what it decodes to. A normalized one is found
// in the normalised text, and its own text is normalised for that; but control tokens
// and tags are always found in the text as it comes, where it is known who wrote it.
func (t *Tokenizer) addedJSON(a addedJSON, k Kind) (string, error) {
	x := addedToken{id: int32(a.ID), left: a.Left, right: a.Right, word: a.SingleWord}
	if !a.Normalized || t.norm == nil || k == Control || k == Unknown || a.Content == "" || isTag(a.Content) {
		return a.Content, t.addToken(&t.added, a.Content, k, x)
	}
	text := t.norm(a.Content, false)
	return text, t.addToken(&t.later, text, k, x)
}
