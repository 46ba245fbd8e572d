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

	// Later runs work that no turn waits for; nil: at once, by the turn.
	Later func(work func(context.Context))

	mu    sync.Mutex
	hash  ids.Digest // of the contract that the rest is made of
	words *index
	texts []string             // of each adapter
	known map[string][]float32 // embeddings of texts
	busy  bool                 // work is under way
}

// few is how many texts a turn embeds itself: what an adapter that was added brings.
const few = 4

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
func (r *Ranker) Warm(ctx context.Context, c *contract.Contract) {
	if _, _, missing := r.take(c); r.Embedder != nil {
		r.learn(ctx, missing)
	}
}

// prepare gives the index of a contract and the embeddings of its adapters, nil if
// they are not there. After a change of the contract only new texts are embedded: a few by
// the turn, more of them later, and words rank until then.
func (r *Ranker) prepare(ctx context.Context, c *contract.Contract) (*index, [][]float32) {
	words, texts, missing := r.take(c)
	switch {
	case r.Embedder == nil:
		return words, nil
	case len(missing) == 0:
	case len(missing) <= few || r.Later == nil:
		r.learn(ctx, missing)
	default:
		r.learnLater(missing)
	}
	return words, r.vectors(texts)
}

// take makes the index of a contract and tells which of its texts have no embedding yet.
func (r *Ranker) take(c *contract.Contract) (words *index, texts, missing []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.hash != c.Hash() {
		r.hash, r.texts = c.Hash(), descriptions(c)
		r.words = newIndex(r.texts)
		r.forget()
	}
	for _, t := range r.texts {
		if r.known[t] == nil {
			missing = append(missing, t)
		}
	}
	return r.words, r.texts, missing
}

// forget drops the embeddings of texts that the contract has no more.
func (r *Ranker) forget() {
	kept := map[string][]float32{}
	for _, t := range r.texts {
		if v := r.known[t]; v != nil {
			kept[t] = v
		}
	}
	r.known = kept
}

// learn embeds texts.
func (r *Ranker) learn(ctx context.Context, texts []string) {
	if len(texts) == 0 {
		return
	}
	v, err := r.embed(ctx, texts)
	if err != nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for i, t := range texts {
		r.known[t] = v[i]
	}
}

// learnLater is learn in the background, once at a time.
func (r *Ranker) learnLater(texts []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.busy {
		return
	}
	r.busy = true
	r.Later(func(ctx context.Context) {
		r.learn(ctx, texts)
		r.mu.Lock()
		defer r.mu.Unlock()
		r.busy = false
	})
}

// vectors gives the embeddings of texts, nil if one is not there.
func (r *Ranker) vectors(texts []string) [][]float32 {
	r.mu.Lock()
	defer r.mu.Unlock()
	all := make([][]float32, len(texts))
	for i, t := range texts {
		if all[i] = r.known[t]; all[i] == nil {
			return nil
		}
	}
	return all
}

func (r *Ranker) embed(ctx context.Context, texts []string) ([][]float32, error) {
	v, _, err := r.Embedder.Embed(ctx, texts)
	if err != nil && ctx.Err() == nil && r.Failed != nil {
		r.Failed(err)
	}
	return v, err
}

// descriptions gives what is known of each adapter: its title and description.
func descriptions(c *contract.Contract) []string {
	texts := make([]string, len(c.Adapters))
	for i, a := range c.Adapters {
		texts[i] = strings.TrimPrefix(a.Title+". "+a.Description, ". ")
	}
	return texts
}

// cosines compares each vector with one.
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
