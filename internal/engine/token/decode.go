package token

// stripping says what happens to the space that a text seems to begin with.
type stripping uint8

const (
	keepSpace stripping = iota
	stripWord           // it is the mark of a word, if the first token is a word
	stripAny            // it is never text
)

// Decode joins the texts of ids, control tokens included; ids outside the
// vocabulary add nothing. The result need not be UTF-8. The space that a SentencePiece
// or WordPiece vocabulary has before the first word of a text is left out.
func (t *Tokenizer) Decode(ids []int32) []byte {
	var out []byte
	first := true
	for _, id := range ids {
		piece := t.Piece(id)
		if first && t.strip != keepSpace && !t.framing(id) {
			first = false
			if len(piece) > 0 && piece[0] == ' ' && (t.strip == stripAny || t.kinds[id] == Normal) {
				piece = piece[1:]
			}
		}
		out = append(out, piece...)
	}
	return out
}

// framing tells whether a token can stand before the first word without being text.
func (t *Tokenizer) framing(id int32) bool {
	return t.algo != wordPiece && t.IsControl(id) && id != t.unk || id < 0 || int(id) >= t.Vocab()
}
