package encoder

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"

	"macaron/internal/engine/token"
	"macaron/internal/engine/weights/hf"
	"macaron/internal/errs"
)

// config is what the small files say.
type config struct {
	depth     int     // blocks
	d, h, c   int     // width, heads, values of a head
	f         int     // feed-forward width
	eps       float32 // of layer normalisation
	length    int     // tokens of a text, those around it included
	first     bool    // the embedding is the first token's state, else the mean of all
	normalise bool    // to length 1
}

// caps on what a configuration may claim.
const (
	maxLayers = 1 << 8
	maxWidth  = 1 << 15
)

func readConfig(h hf.Config, dir string) (config, error) {
	kind, err := h.String("model_type")
	if err != nil {
		return config{}, err
	}
	if kind != "bert" {
		return config{}, refused(fmt.Sprintf("the encoder is of the kind %q (known is bert)", errs.Clip(kind)))
	}
	r := reader{h: h}
	c := config{depth: r.count("num_hidden_layers", maxLayers), d: r.count("hidden_size", maxWidth), h: r.count("num_attention_heads", maxWidth),
		f: r.count("intermediate_size", 8*maxWidth), length: r.count("max_position_embeddings", 1<<16)}
	eps, err := h.FloatOr("layer_norm_eps", 1e-12)
	if r.fail(err); r.err != nil {
		return c, r.err
	}
	c.eps, c.c = float32(eps), c.d/c.h
	if c.d%c.h != 0 || c.c%16 != 0 || !(c.eps > 0) {
		return c, errs.Newf(errs.Unsupported, "%d heads over %d values with epsilon %g are not supported; a head must have a multiple of 16 values", c.h, c.d, c.eps)
	}
	if err := plain(h); err != nil {
		return c, err
	}
	return c, c.readModules(dir)
}

// plain refuses what would be computed otherwise.
func plain(h hf.Config) error {
	for field, known := range map[string]string{"hidden_act": "gelu", "position_embedding_type": "absolute"} {
		if s, err := h.StringOr(field, known); err != nil || s != known {
			return orRefused(err, fmt.Sprintf("the encoder's %s is %q (known is %s)", field, errs.Clip(s), known))
		}
	}
	for _, field := range []string{"quantization_config", "is_decoder", "add_cross_attention"} {
		if !h.Neutral(field, 0) {
			return refused("the encoder's config.json has " + field)
		}
	}
	return nil
}

func refused(what string) error {
	return errs.New(errs.Unsupported, what+", which is not computed here", "use another embedding model")
}

func orRefused(err error, what string) error {
	if err != nil {
		return err
	}
	return refused(what)
}

// readModules follows modules.json: the transformer, pooling, normalisation. Without
// it, the mean is pooled and not normalised, as the reference does.
func (c *config) readModules(dir string) error {
	if !hf.Exists(dir, "modules.json") {
		return nil
	}
	raw, err := hf.ReadFile(dir, "modules.json")
	if err != nil {
		return err
	}
	var list []struct{ Path, Type string }
	if err := json.Unmarshal(raw, &list); err != nil {
		return errs.Wrap(errs.FormatInvalid, err, "modules.json is no list of modules", "fetch the model again")
	}
	for i, m := range list {
		name := m.Type[strings.LastIndexByte(m.Type, '.')+1:]
		switch {
		case name == "Transformer" && i == 0 && m.Path == "":
			err = c.readLength(dir)
		case name == "Pooling" && i == 1:
			err = c.readPooling(dir, m.Path)
		case name == "Normalize" && i == 2:
			c.normalise = true
		default:
			err = refused(fmt.Sprintf("modules.json has %q at place %d (known are Transformer, Pooling, Normalize, in this order)", errs.Clip(m.Type), i))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// readLength takes the shorter bound on a text that sentence_bert_config.json sets.
func (c *config) readLength(dir string) error {
	const name = "sentence_bert_config.json"
	if !hf.Exists(dir, name) {
		return nil
	}
	h, err := readObject(dir, name)
	if err != nil {
		return err
	}
	if !h.Neutral("do_lower_case", 0) {
		return refused(name + " lowers the case of texts before the tokenizer does")
	}
	n, err := h.UintOr("max_seq_length", uint64(c.length))
	if err == nil && (n < 3 || n > uint64(c.length)) {
		err = errs.Newf(errs.FormatInvalid, "%s has max_seq_length = %d, beyond 3 to %d", name, n, c.length).In("max_seq_length")
	}
	c.length = int(n)
	return err
}

func (c *config) readPooling(dir, path string) error {
	if path == "" || path != filepath.Base(path) || !filepath.IsLocal(path) {
		return errs.Newf(errs.FormatInvalid, "modules.json has the path %q, which is no directory beside it", errs.Clip(path))
	}
	h, err := readObject(filepath.Join(dir, path), hf.ConfigFile)
	if err != nil {
		return err
	}
	mean, err := h.BoolOr("pooling_mode_mean_tokens", false)
	if err != nil {
		return err
	}
	if c.first, err = h.BoolOr("pooling_mode_cls_token", false); err != nil {
		return err
	}
	for _, mode := range []string{"max_tokens", "mean_sqrt_len_tokens", "weightedmean_tokens", "lasttoken"} {
		if !h.Neutral("pooling_mode_"+mode, 0) {
			return refused("the pooling is " + mode + " (known are cls_token and mean_tokens)")
		}
	}
	if mean == c.first {
		return refused("the pooling is not exactly one of cls_token and mean_tokens")
	}
	return nil
}

func readObject(dir, name string) (hf.Config, error) {
	raw, err := hf.ReadFile(dir, name)
	if err != nil {
		return hf.Config{}, err
	}
	return hf.ParseConfig(name, raw)
}

// readTokenizer reads tokenizer.json and what stands beside it.
func readTokenizer(dir string) (*token.Tokenizer, error) {
	raw, companions, err := hf.TokenizerFiles(dir)
	if err != nil {
		return nil, err
	}
	return token.FromJSON(raw, companions...)
}

// reader collects the first error.
type reader struct {
	h   hf.Config
	err error
}

func (r *reader) count(field string, limit int) int {
	n, err := r.h.Uint(field)
	if err == nil && (n == 0 || n > uint64(limit)) {
		err = errs.Newf(errs.FormatInvalid, "config.json has %s = %d, beyond 1 to %d", field, n, limit).In(field)
	}
	r.fail(err)
	return int(n)
}

func (r *reader) fail(err error) {
	if r.err == nil {
		r.err = err
	}
}
