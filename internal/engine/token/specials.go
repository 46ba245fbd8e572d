package token

import "strings"

// turnEnds are the texts that end a turn or a text in some family of models. The
// files name only one of them as eos_token_id.
var turnEnds = []string{"<|im_end|>", "<|endoftext|>", "<|eot_id|>", "<|eom_id|>", "<|end_of_text|>", "<|end|>",
	"<|return|>", "<|call|>", "<|calls|>", "<|flush|>", "<end_of_turn>", "<|END_OF_TURN_TOKEN|>", "<EOT>", "_<EOT>", "[EOT]", "[EOS]",
	"<end_of_utterance>", "<｜end▁of▁sentence｜>", "</s>"}

// loadSpecials reads which tokens begin and end a text.
func (t *Tokenizer) loadSpecials(meta Source) (err error) {
	if t.bos, err = t.special(meta, "bos"); err != nil {
		return err
	}
	if t.eos, err = t.special(meta, "eos"); err != nil {
		return err
	}
	t.eog = map[int32]bool{}
	for _, name := range []string{"eos", "eot", "eom"} {
		id, err := t.special(meta, name)
		if err != nil {
			return err
		}
		if id >= 0 {
			t.eog[id] = true
		}
	}
	t.findTurnEnds()
	if t.algo == wordPiece {
		return t.frameBERT(meta)
	}
	return t.frame(meta)
}

// frame reads whether BOS and EOS stand around a text. Files of SentencePiece, Llama 3
// and Tekken models that say nothing mean BOS.
func (t *Tokenizer) frame(meta Source) error {
	implied := t.algo == bpeScores || t.whole && !strings.HasPrefix(t.pre, "glm")
	bos, err := meta.BoolOr("tokenizer.ggml.add_bos_token", implied)
	if err != nil {
		return err
	}
	eos, err := meta.BoolOr("tokenizer.ggml.add_eos_token", false)
	if err != nil {
		return err
	}
	if bos && t.bos >= 0 {
		t.front = []int32{t.bos}
	}
	if eos && t.eos >= 0 {
		t.back = []int32{t.eos}
	}
	return nil
}

// frameBERT finds [CLS] and [SEP]. GGUF spells the second key as it does.
func (t *Tokenizer) frameBERT(meta Source) error {
	for _, x := range []struct {
		key, text string
		to        *[]int32
	}{{"cls", "[CLS]", &t.front}, {"seperator", "[SEP]", &t.back}} {
		id, err := t.special(meta, x.key)
		if err != nil {
			return err
		}
		if id < 0 {
			var ok bool
			if id, ok = t.added.whole(x.text); !ok {
				return bad("the vocabulary names no %s token", x.text)
			}
		}
		*x.to = []int32{id}
	}
	return nil
}

// findTurnEnds adds the known ends of turns to the tokens that end a generation. Where
// the ends of gpt-oss's and Solar's messages are there, <|end|> ends only a part of one.
func (t *Tokenizer) findTurnEnds() {
	for _, text := range turnEnds {
		if id, ok := t.added.whole(text); ok && (t.kinds[id] == Control || isTag(text)) {
			t.eog[id] = true
		}
	}
	part, ok := t.added.whole("<|end|>")
	has := func(text string) bool { id, ok := t.added.whole(text); return ok && t.eog[id] }
	if ok && part != t.eos && (has("<|return|>") && has("<|call|>") || has("<|calls|>") && has("<|flush|>")) {
		delete(t.eog, part)
	}
}

// special reads tokenizer.ggml.NAME_token_id; -1 when the file has none.
func (t *Tokenizer) special(meta Source, name string) (int32, error) {
	key := "tokenizer.ggml." + name + "_token_id"
	if !meta.Has(key) {
		return -1, nil
	}
	id, err := meta.UintOr(key, 0)
	if err != nil {
		return -1, err
	}
	if id >= uint64(t.Vocab()) {
		return -1, bad("%s is %d, the vocabulary has %d tokens", key, id, t.Vocab())
	}
	return int32(id), nil
}
