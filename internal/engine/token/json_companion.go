package token

import (
	"encoding/json"
	"fmt"

	"macaron/internal/errs"
)

// companion is what the files beside a tokenizer.json say of it. They say much else,
// which is for others; so unknown members are no error here.
type companion struct {
	BOS    *specialText `json:"bos_token"`
	EOS    *specialText `json:"eos_token"`
	BOSID  *idList      `json:"bos_token_id"`
	EOSID  *idList      `json:"eos_token_id"`
	AddBOS *bool        `json:"add_bos_token"`
	AddEOS *bool        `json:"add_eos_token"`
}

// specialText is a token as a text, or as an object with its content.
type specialText string

// UnmarshalJSON reads either form.
func (s *specialText) UnmarshalJSON(b []byte) error {
	var text string
	if json.Unmarshal(b, &text) == nil {
		*s = specialText(text)
		return nil
	}
	var object struct {
		Content string `json:"content"`
	}
	err := json.Unmarshal(b, &object)
	*s = specialText(object.Content)
	return err
}

// idList is an id or a list of ids.
type idList []int64

// UnmarshalJSON reads either form.
func (l *idList) UnmarshalJSON(b []byte) error {
	var id int64
	if json.Unmarshal(b, &id) == nil {
		*l = idList{id}
		return nil
	}
	return json.Unmarshal(b, (*[]int64)(l))
}

// readCompanions reads the files; what an earlier one says counts, but of the ends of a
// generation all count.
func readCompanions(files [][]byte) (all companion, err error) {
	var ends idList
	for _, b := range files {
		if len(b) == 0 {
			continue
		}
		var c companion
		if err := json.Unmarshal(b, &c); err != nil {
			return all, errs.Wrap(errs.FormatInvalid, err, "a file beside tokenizer.json cannot be read: "+errs.Clip(err.Error()), "fetch the file again")
		}
		all.BOS, all.EOS = or(all.BOS, c.BOS), or(all.EOS, c.EOS)
		all.BOSID = or(all.BOSID, c.BOSID)
		all.AddBOS, all.AddEOS = or(all.AddBOS, c.AddBOS), or(all.AddEOS, c.AddEOS)
		if c.EOSID != nil {
			ends = append(ends, *c.EOSID...)
		}
	}
	all.EOSID = &ends
	return all, nil
}

func or[T any](a, b *T) *T {
	if a != nil {
		return a
	}
	return b
}

// companionSpecials finds the tokens that begin and end texts and turns.
func (t *Tokenizer) companionSpecials(c companion) (err error) {
	var ends []int32
	for _, id := range *c.EOSID {
		if id < 0 || id >= int64(t.Vocab()) {
			return bad("eos_token_id is %d, the vocabulary has %d tokens", id, t.Vocab())
		}
		ends = append(ends, int32(id))
	}
	if t.bos, err = t.named(c.BOS, "bos_token"); err != nil {
		return err
	}
	if t.eos, err = t.named(c.EOS, "eos_token"); err != nil {
		return err
	}
	if t.bos < 0 && c.BOSID != nil && len(*c.BOSID) == 1 && (*c.BOSID)[0] >= 0 && (*c.BOSID)[0] < int64(t.Vocab()) {
		t.bos = int32((*c.BOSID)[0])
	}
	if t.eos < 0 && len(ends) > 0 {
		t.eos = ends[0]
	}
	t.eog = map[int32]bool{}
	for _, id := range append(ends, t.eos) {
		if id >= 0 {
			t.eog[id] = true
		}
	}
	t.findTurnEnds()
	t.companionFrame(c)
	return nil
}

// companionFrame applies add_bos_token and add_eos_token, which count more than the
// post-processor.
func (t *Tokenizer) companionFrame(c companion) {
	if c.AddBOS == nil && c.AddEOS == nil {
		return
	}
	t.front, t.back = nil, nil
	if c.AddBOS != nil && *c.AddBOS && t.bos >= 0 {
		t.front = []int32{t.bos}
	}
	if c.AddEOS != nil && *c.AddEOS && t.eos >= 0 {
		t.back = []int32{t.eos}
	}
}

// named finds a special token by its text; -1 when the files name none.
func (t *Tokenizer) named(text *specialText, what string) (int32, error) {
	if text == nil || *text == "" {
		return -1, nil
	}
	if id, ok := t.ids[string(*text)]; ok {
		return id, nil
	}
	return -1, errs.New(errs.FormatInvalid, fmt.Sprintf("%s is %.60q, which is not in the vocabulary", what, string(*text)), "fetch tokenizer.json and tokenizer_config.json of one model")
}
