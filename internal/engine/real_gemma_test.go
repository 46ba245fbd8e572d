package engine

import (
	"testing"

	"macaron/internal/engine/model"
	"macaron/internal/testvectors"
)

// TestGemmaEndsItsTurns: the file names <eos> as the end; a turn ends with another token.
func TestGemmaEndsItsTurns(t *testing.T) {
	source, err := model.Open(testvectors.Gemma.Path(t))
	if err != nil {
		t.Fatal(err)
	}
	defer source.Close()
	tok, _, err := speech(source)
	if err != nil {
		t.Fatal(err)
	}
	for _, piece := range []string{"<eos>", "<end_of_turn>"} {
		if id, ok := tok.ID(piece); !ok || !tok.IsEOG(id) {
			t.Errorf("%s (token %d) does not end an answer", piece, id)
		}
	}
}
