package engine

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"macaron/internal/engine/sample"
	"macaron/internal/testmodel"
)

// TestRealAdaptersSideBySide: the default model with its four adapters and bare, all in
// one batch on two threads over a shared prefix, twice so that the second time comes
// from the cache, gives the bits that each gives alone on one thread.
func TestRealAdaptersSideBySide(t *testing.T) {
	path := testmodel.Path(t)
	both := open(t, path, func(o *Options) { o.KVBytes = 64 << 20 })
	alone := open(t, path, func(o *Options) { o.Threads, o.MaxBatch, o.KVBytes = 1, 1, 64<<20 })
	text := "<|im_start|>system\nYou are Macaron, a helpful assistant made of specialists. You answer in one sentence, and say what you do not know.<|im_end|>\n" +
		"<|im_start|>user\nPlease list the files of this folder by size, and tell me when the train leaves.<|im_end|>\n<|im_start|>assistant\n"
	var requests []Request
	for i, name := range []string{"", "L0", "L1", "L2", "L3"} {
		q := Request{Prompt: both.tok.Encode(text, true), MaxTokens: 6, IgnoreEOS: true, Sampling: sample.Params{Temperature: 0.7, TopP: 0.9, Seed: uint64(i)}}
		if name != "" {
			a, err := both.LoadAdapter("../../adapters/" + name)
			if err != nil {
				t.Fatal(err)
			}
			q.Adapter = a
		}
		requests = append(requests, q)
	}
	seen := map[string]int{}
	for round := range 2 {
		for i, s := range submitAll(t, both, requests) {
			got, err := collect(s)
			if err != nil {
				t.Fatal(err)
			}
			if cached := s.Usage().Cached; (cached > 0) != (round > 0) {
				t.Errorf("round %d, request %d: %d tokens from the cache", round, i, cached)
			}
			q := requests[i]
			q.Salt = fmt.Sprint(round)
			if diff := cmp.Diff(generate(t, alone, q), got); diff != "" {
				t.Errorf("round %d, request %d: %s", round, i, diff)
			}
			seen[fmt.Sprint(got[0].Logprob)] = i
		}
	}
	if len(seen) != len(requests) {
		t.Errorf("%d requests with different adapters gave %d different results", len(requests), len(seen))
	}
}
