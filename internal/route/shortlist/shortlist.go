// Package shortlist ranks adapters by how well their descriptions fit a request, so that
// a router has to decide among a few of hundreds: by the cosine of sentence embeddings
// where the machine has an encoder, else by words (BM25).
package shortlist

import (
	"context"
	"math"
	"slices"
	"strings"
	"sync"

	"macaron/internal/contract"
	"macaron/internal/ids"
)

// The names of what ranked, as decisions carry them.
const (
	Lexical   = "lexical"
	Embedding = "embedding"
	Fused     = "fused"
)

// fusion is the constant of reciprocal rank fusion (Cormack, Clarke, Buettcher, SIGIR 2009).
const fusion = 60

// queryRunes bounds the text of a request that is ranked; its two ends say what it is about.
const queryRunes = 2000

// Embedder gives a vector for each text; *encoder.Encoder is one.
type Embedder interface {
	Embed(ctx context.Context, texts []string) (vectors [][]float32, tokens int, err error)
}

// Ranker ranks the adapters of contracts. It is safe for concurrent use.
type Ranker struct {
	Embedder Embedder        // nil: words only
	Fuse     bool            // words have a say where there are embeddings; docs/ROUTING_EVAL.md has why not
	Failed   func(err error) // told when the encoder fails; nil: nobody is

	mu      sync.Mutex
	hash    ids.Digest // of the contract that the rest is made of
	words   *index
	vectors [][]float32 // of the adapters' descriptions; nil until they are made
}

// Rank gives the labels of the k fittest adapters, best first, and what they were ranked
// by. Equal scores keep the order of the contract. It never fails: without embeddings
// words rank alone.
func (r *Ranker) Rank(ctx context.Context, c *contract.Contract, labels []string, request string, k int) ([]string, string) {
	request = contract.Clip(request, queryRunes)
	words, vectors := r.prepare(ctx, c)
	lexical := words.scores(request)
	by, scores := Lexical, lexical
	if vectors != nil {
		if q, err := r.embed(ctx, []string{request}); err == nil {
			by, scores = Embedding, cosines(vectors, q[0])
			if r.Fuse {
				by, scores = Fused, fuse(lexical, scores)
			}
		}
	}
	return top(c, labels, scores, k), by
}

// Warm makes what Rank needs of a contract, so that no turn waits for it.
func (r *Ranker) Warm(ctx context.Context, c *contract.Contract) { r.prepare(ctx, c) }

// prepare gives the index of a contract and the embeddings of its descriptions, nil if
// they cannot be had.
func (r *Ranker) prepare(ctx context.Context, c *contract.Contract) (*index, [][]float32) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.hash != c.Hash() {
		texts := descriptions(c)
		r.hash, r.words, r.vectors = c.Hash(), newIndex(texts), nil
	}
	if r.vectors == nil && r.Embedder != nil {
		if v, err := r.embed(ctx, descriptions(c)); err == nil {
			r.vectors = v
		}
	}
	return r.words, r.vectors
}

func (r *Ranker) embed(ctx context.Context, texts []string) ([][]float32, error) {
	v, _, err := r.Embedder.Embed(ctx, texts)
	if err != nil && ctx.Err() == nil && r.Failed != nil {
		r.Failed(err)
	}
	return v, err
}

// descriptions are what ranking knows of the adapters.
func descriptions(c *contract.Contract) []string {
	texts := make([]string, len(c.Adapters))
	for i, a := range c.Adapters {
		texts[i] = strings.TrimPrefix(a.Title+". "+a.Description, ". ")
	}
	return texts
}

func cosines(vectors [][]float32, q []float32) []float64 {
	out := make([]float64, len(vectors))
	for i, v := range vectors {
		out[i] = dot(v, q) / math.Sqrt(dot(v, v)*dot(q, q)+1e-30)
	}
	return out
}

func dot(a, b []float32) float64 {
	var sum float64
	for i, x := range a {
		sum += float64(x) * float64(b[i])
	}
	return sum
}

// fuse sums reciprocal ranks. A list in which an adapter shares no word with the request
// says nothing about it.
func fuse(lexical, cosine []float64) []float64 {
	out := make([]float64, len(cosine))
	for _, list := range [][]float64{lexical, cosine} {
		for rank, i := range order(list) {
			if list[i] != 0 {
				out[i] += 1 / float64(fusion+rank+1)
			}
		}
	}
	return out
}

// order gives the indices by falling score, equal ones as they stand.
func order(scores []float64) []int {
	at := make([]int, len(scores))
	for i := range at {
		at[i] = i
	}
	slices.SortStableFunc(at, func(a, b int) int {
		switch {
		case scores[a] > scores[b]:
			return -1
		case scores[a] < scores[b]:
			return 1
		}
		return 0
	})
	return at
}

func top(c *contract.Contract, labels []string, scores []float64, k int) []string {
	var out []string
	for _, i := range order(scores) {
		if name := c.Adapters[i].Name; len(out) < k && slices.Contains(labels, name) {
			out = append(out, name)
		}
	}
	return out
}
