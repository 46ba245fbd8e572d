// Package encoder computes sentence embeddings with BERT encoders from directories as
// Hugging Face and sentence-transformers lay them out: tokens, a bidirectional
// transformer in single precision, pooling, and normalisation to length 1.
//
// Axis letters: n rows (tokens of all texts of a batch), d width, h heads of c values,
// f width of the feed-forward part. Every row is computed by itself and sees its own
// text only, so an embedding's bits do not depend on what is in the batch.
package encoder

import (
	"context"
	"runtime"
	"sync"

	"macaron/internal/engine/kernel"
	"macaron/internal/engine/token"
	"macaron/internal/engine/weights/hf"
	"macaron/internal/errs"
	"macaron/internal/ids"
)

// Encoder is a loaded model. It is safe for concurrent use; calls take turns.
type Encoder struct {
	config
	Digest ids.Digest // of the directory

	words, positions, kind table
	embedNorm              norm
	layers                 []layer
	tok                    *token.Tokenizer

	mu   sync.Mutex
	pool *kernel.Pool
	buf  buffers
}

// Open loads the model of a directory. What its files ask for and this package does not
// compute is Unsupported, by name.
func Open(dir string) (*Encoder, error) {
	d, err := hf.Open(dir)
	if err != nil {
		return nil, err
	}
	e := &Encoder{}
	err = e.load(d, dir)
	if cerr := d.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return nil, err
	}
	e.pool = kernel.NewPool(runtime.NumCPU())
	return e, nil
}

func (e *Encoder) load(d *hf.Dir, dir string) (err error) {
	if e.config, err = readConfig(d.Config, dir); err != nil {
		return err
	}
	if err := e.loadWeights(d); err != nil {
		return err
	}
	if e.tok, err = readTokenizer(dir); err != nil {
		return err
	}
	if n := e.tok.Vocab(); n > e.words.rows {
		return errs.Newf(errs.FormatInvalid, "the vocabulary has %d tokens and the embedding only %d rows", n, e.words.rows)
	}
	e.Digest, err = hf.Digest(dir)
	return err
}

// Close releases the workers. It is idempotent.
func (e *Encoder) Close() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.pool.Close()
	return nil
}

// Width is the number of values of an embedding.
func (e *Encoder) Width() int { return e.d }

// MaxTokens is how many tokens of a text are used, those around it included.
func (e *Encoder) MaxTokens() int { return e.length }

// Tokens gives the tokens of a text as the model sees them: framed, and cut at
// MaxTokens. The texts of control tokens are plain characters.
func (e *Encoder) Tokens(text string) []int32 {
	list, _ := e.Cut(text)
	return list
}

// Cut is Tokens, and tells how many tokens the whole text has.
func (e *Encoder) Cut(text string) (list []int32, whole int) {
	front, back := e.tok.Frame()
	list = append(append([]int32(nil), front...), e.tok.Encode(text, false)...)
	whole = len(list) + len(back)
	if room := e.length - len(back); len(list) > room {
		list = list[:room]
	}
	return append(list, back...), whole
}

// batchTokens is how many tokens of neighbouring texts are computed together.
const batchTokens = 512

// Embed gives the embedding of each text, Width values each, and the tokens that were
// used in all. It stops between batches when ctx ends.
func (e *Encoder) Embed(ctx context.Context, texts []string) (vectors [][]float32, tokens int, err error) {
	lists := make([][]int32, len(texts))
	for i, text := range texts {
		lists[i] = e.Tokens(text)
		tokens += len(lists[i])
	}
	vectors, err = e.EmbedTokens(ctx, lists)
	return vectors, tokens, err
}

// EmbedTokens is Embed for texts that are tokens already, framed and at most MaxTokens
// each.
func (e *Encoder) EmbedTokens(ctx context.Context, lists [][]int32) ([][]float32, error) {
	for _, list := range lists {
		if err := e.check(list); err != nil {
			return nil, err
		}
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	out := make([][]float32, 0, len(lists))
	for len(lists) > 0 {
		if err := ctx.Err(); err != nil {
			return nil, errs.Wrap(errs.Canceled, err, "embedding was cancelled", "")
		}
		n, rows := 1, len(lists[0])
		for n < len(lists) && rows+len(lists[n]) <= batchTokens {
			rows += len(lists[n])
			n++
		}
		out = append(out, e.batch(lists[:n], rows)...)
		lists = lists[n:]
	}
	return out, nil
}

func (e *Encoder) check(list []int32) error {
	if len(list) == 0 || len(list) > e.length {
		return errs.Newf(errs.ContextExceeded, "a text of %d tokens cannot be embedded; 1 to %d can", len(list), e.length)
	}
	for _, t := range list {
		if t < 0 || int(t) >= e.words.rows {
			return errs.Newf(errs.InvalidRequest, "there is no token %d; the model has %d", t, e.words.rows)
		}
	}
	return nil
}
