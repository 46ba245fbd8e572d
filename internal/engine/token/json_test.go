package token_test

import (
	"encoding/json"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"

	"macaron/internal/engine/token"
	"macaron/internal/errs"
)

// tiny is a tokenizer.json whose parts a test replaces.
func tiny(change map[string]string) []byte {
	parts := map[string]string{
		"version": `"1.0"`, "truncation": "null", "padding": "null", "normalizer": "null", "post_processor": "null",
		"added_tokens":  `[{"id":4,"content":"<end>","single_word":false,"lstrip":false,"rstrip":false,"normalized":false,"special":true}]`,
		"pre_tokenizer": `{"type":"ByteLevel","add_prefix_space":false,"trim_offsets":true,"use_regex":true}`,
		"decoder":       `{"type":"ByteLevel","add_prefix_space":true,"trim_offsets":true,"use_regex":true}`,
		"model":         `{"type":"BPE","vocab":{"a":0,"b":1,"ab":2,"\u0120":3},"merges":["a b"]}`,
	}
	var members []string
	for name, value := range parts {
		if other, ok := change[name]; ok {
			value = other
		}
		members = append(members, fmt.Sprintf("%q:%s", name, value))
	}
	return []byte("{" + strings.Join(members, ",") + "}")
}

func TestTokenizerFilesThatCannotBeUsed(t *testing.T) {
	long := strings.Repeat("x", 600)
	for says, change := range map[string]map[string]string{
		"unsupported: normalizer is of type \"Precompiled\"":       {"normalizer": `{"type":"Precompiled","precompiled_charsmap":"AA=="}`},
		"unsupported: normalizer is of type \"Nmt\"":               {"normalizer": `{"type":"Sequence","normalizers":[{"type":"NFC"},{"type":"Nmt"}]}`},
		"unsupported: normalizer Replace looks for":                {"normalizer": `{"type":"Replace","pattern":{"Regex":" {2,}"},"content":" "}`},
		"invalid: more than 64 times longer":                       {"normalizer": `{"type":"Replace","pattern":{"String":"a"},"content":"` + long + `"}`},
		"invalid: is no sequence of at most 32":                    {"normalizer": strings.Repeat(`{"type":"Sequence","normalizers":[`, 9) + strings.Repeat("]}", 9)},
		"unsupported: pre-tokenizer is of type \"UnicodeScripts\"": {"pre_tokenizer": `{"type":"UnicodeScripts"}`},
		"unsupported: pre-tokenizer splits by the expression":      {"pre_tokenizer": `{"type":"Split","pattern":{"Regex":"(a+)+$"},"behavior":"Isolated","invert":false}`},
		"unsupported: Split has the behavior \"Removed\"":          {"pre_tokenizer": `{"type":"Split","pattern":{"Regex":"\\p{N}"},"behavior":"Removed","invert":false}`},
		"unsupported: pre-tokenizer has the member":                {"pre_tokenizer": `{"type":"ByteLevel","magic":true}`},
		"unsupported: do not belong together":                      {"pre_tokenizer": "null"},
		"unsupported: decoder is of type \"CTC\"":                  {"decoder": `{"type":"CTC"}`},
		"unsupported: post-processor is of type \"Odd\"":           {"post_processor": `{"type":"Odd"}`},
		"invalid: the post-processor adds the token 99":            {"post_processor": `{"type":"BertProcessing","sep":["x",99],"cls":["a",0]}`},
		"unsupported: model is of type \"Unigram\"":                {"model": `{"type":"Unigram","unk_id":0,"vocab":[["a",0.0]]}`},
		"unsupported: dropout":                                     {"model": `{"type":"BPE","vocab":{"a":0},"merges":[],"dropout":0.1}`},
		"unsupported: end_of_word_suffix":                          {"model": `{"type":"BPE","vocab":{"a":0},"merges":[],"end_of_word_suffix":"</w>"}`},
		"unsupported: model has the member":                        {"model": `{"type":"BPE","vocab":{"a":0},"merges":[],"cache_capacity_x":1}`},
		"invalid: uses a token that is not in the vocabulary":      {"model": `{"type":"BPE","vocab":{"a":0,"b":1},"merges":["a b"]}`},
		"invalid: is not a pair":                                   {"model": `{"type":"BPE","vocab":{"a":0,"b":1},"merges":[["a"]]}`},
		"invalid: two tokens have the id 0":                        {"model": `{"type":"BPE","vocab":{"a":0,"b":0},"merges":[]}`},
		"invalid: a token has the id":                              {"model": `{"type":"BPE","vocab":{"a":4000000000},"merges":[]}`},
		"invalid: has 1048576 places":                              {"model": `{"type":"BPE","vocab":{"a":1048575},"merges":[]}`},
		"invalid: the added token 1 is another token":              {"added_tokens": `[{"id":1,"content":"x","special":true}]`},
		"invalid: has 600 bytes":                                   {"added_tokens": `[{"id":4,"content":"` + long + `","special":true}]`},
		"invalid: the unknown token":                               {"model": `{"type":"BPE","vocab":{"a":0},"merges":[],"unk_token":"zzz"}`},
		"invalid: tokenizer.json cannot be read":                   {"model": `{`},
	} {
		code, text, _ := strings.Cut(says, ": ")
		_, err := token.FromJSON(tiny(change))
		if !strings.Contains(string(errs.CodeOf(err)), code) || !strings.Contains(err.Error(), text) || errs.As(err).Next == "" && code == "unsupported" {
			t.Errorf("%s: %v", says, err)
		}
	}
	if _, err := token.FromJSON(tiny(nil), []byte(`{"eos_token":"nowhere"}`)); errs.CodeOf(err) != errs.FormatInvalid {
		t.Errorf("an unknown EOS: %v", err)
	}
	if _, err := token.FromJSON(tiny(nil), nil, []byte(`{"eos_token_id":[4,77]}`)); errs.CodeOf(err) != errs.FormatInvalid {
		t.Errorf("an EOS beyond: %v", err)
	}
}

func TestWhatStandsBesideATokenizerFile(t *testing.T) {
	file := tiny(map[string]string{"added_tokens": `[{"id":4,"content":"<end>","special":true},{"id":5,"content":"<|im_end|>","special":true},{"id":6,"content":"<s>","special":true}]`})
	tok, err := token.FromJSON(file, []byte(`{"bos_token":{"content":"<s>","lstrip":false},"eos_token":"<end>","add_bos_token":true,"anything":[1]}`), nil, []byte(`{"eos_token_id":[4,2]}`))
	if err != nil {
		t.Fatal(err)
	}
	if front, back := tok.Frame(); fmt.Sprint(front, back) != "[6] []" || tok.BOS() != 6 || tok.EOS() != 4 || !tok.AddBOS() || fmt.Sprint(tok.EOG()) != "[2 4 5]" {
		t.Errorf("around a text stand %v and %v, BOS %d, EOS %d, EOG %v", front, back, tok.BOS(), tok.EOS(), tok.EOG())
	}
	bare, err := token.FromJSON(file)
	if err != nil || bare.BOS() != -1 || bare.EOS() != -1 || bare.AddBOS() || bare.Hash() == tok.Hash() {
		t.Errorf("alone: BOS %d, EOS %d: %v", bare.BOS(), bare.EOS(), err)
	}
}

// A hostile tokenizer.json is refused or read, in memory that its size bounds, and what
// was read encodes.
func FuzzFromJSON(f *testing.F) {
	f.Add(tiny(nil), "abba <end>")
	f.Add(tiny(map[string]string{"normalizer": `{"type":"Sequence","normalizers":[{"type":"NFKC"},{"type":"Prepend","prepend":"▁"},{"type":"Replace","pattern":{"String":" "},"content":"▁"}]}`}), "a b")
	f.Add([]byte(`{"model":{"vocab":{"a":1048575}}}`), "a")
	_, all := hfGoldens(f)
	for _, g := range all {
		if g.Name == "bert-cased" || g.Name == "mistral" {
			f.Add([]byte(g.Tokenizer), "Hello <|end|>  cats é")
		}
	}
	f.Fuzz(func(t *testing.T, file []byte, text string) {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		tok, err := token.FromJSON(file)
		runtime.ReadMemStats(&after)
		if taken := after.TotalAlloc - before.TotalAlloc; taken > 200*uint64(len(file))+64<<20 {
			t.Fatalf("%d bytes took %d", len(file), taken)
		}
		if err != nil {
			if c := errs.CodeOf(err); c != errs.FormatInvalid && c != errs.Unsupported {
				t.Fatalf("%v", err)
			}
			return
		}
		ids := tok.Encode(text, true)
		if !slices.Equal(ids, tok.Encode(text, true)) {
			t.Fatalf("%q has two encodings", text)
		}
		for _, id := range ids {
			if id < 0 || int(id) >= tok.Vocab() {
				t.Fatalf("%q became %d of %d tokens", text, id, tok.Vocab())
			}
		}
		tok.Decode(ids)
	})
}

func TestMembersOfATokenizerFileAreKnown(t *testing.T) {
	var all map[string]json.RawMessage
	if err := json.Unmarshal(tiny(nil), &all); err != nil || len(all) != 9 {
		t.Fatalf("%d members, %v", len(all), err)
	}
	all["surprise"] = json.RawMessage("1")
	b, err := json.Marshal(all)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := token.FromJSON(b); errs.CodeOf(err) != errs.Unsupported || !strings.Contains(err.Error(), "surprise") {
		t.Errorf("%v", err)
	}
}
