package tinker

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"

	"macaron/internal/errs"
	"macaron/internal/limits"
	"macaron/internal/mint"
	"macaron/internal/train"
)

// The bounds of one request for samples.
const (
	sampleCount = 1024
	topCount    = 128 // alternatives at a position
	stopCount   = 64
)

// jsonSample reads the body of asample, which is JSON in every dialect.
func jsonSample(body []byte) (mint.Sample, error) {
	o := objectOf("", body)
	s := mint.Sample{
		Sampler: o.name("sampling_session_id"), Base: o.name("base_model"), Path: o.name("model_path"), Seq: o.seq("seq_id", 0),
		N: int(o.whole("num_samples", 1, 1, sampleCount)), PromptLogprobs: o.flag("prompt_logprobs", false),
		PromptTop: int(o.whole("topk_prompt_logprobs", 0, 0, topCount)), SampleTop: int(o.whole("topk_sample_logprobs", 0, 0, topCount)),
		PromptLast: int(o.whole("prompt_logprobs_last_n", 0, 1, math.MaxInt32)),
	}
	o.of("record_stability_info") // every sample is kept that way
	if o.whole("prompt_alt_tokens_k", 0, 0, math.MaxInt32) > 0 {
		o.fail(errs.New(errs.Unsupported, "alternatives to the tokens of a prompt are not drawn here", "use topk_prompt_logprobs").In("prompt_alt_tokens_k"))
	}
	o.need("prompt")
	s.Prompt = o.modelInput("prompt")
	s.Targets = o.targets(len(s.Prompt))
	params := o.object("sampling_params")
	params.sampling(&s)
	o.fail(params.close())
	if err := o.close(); err != nil {
		return s, err
	}
	return s, checkSample(s)
}

func checkSample(s mint.Sample) error {
	switch {
	case s.Sampler == "" && s.Base == "" && s.Path == "":
		return errs.New(errs.InvalidRequest, "the request names no sampler", "send sampling_session_id, or base_model or model_path").In("sampling_session_id")
	case len(s.Prompt) == 0:
		return errs.New(errs.InvalidRequest, "the prompt has no tokens", "begin with at least one").In("prompt")
	case s.PromptLast > 0 && (!s.PromptLogprobs || s.PromptLast >= len(s.Prompt)):
		return errs.New(errs.InvalidRequest, fmt.Sprintf("the last %d positions of a prompt of %d were asked for", s.PromptLast, len(s.Prompt)), "ask for prompt_logprobs, and for fewer positions than the prompt has").In("prompt_logprobs_last_n")
	}
	return nil
}

// sampling reads SamplingParams.
func (o *object) sampling(s *mint.Sample) {
	s.MaxTokens = int(o.whole("max_tokens", 0, 0, limits.OutputTokens))
	if raw, there := o.of("max_tokens"); there && string(raw) == "0" {
		o.fail(errs.New(errs.InvalidRequest, "max_tokens is 0", "ask for at least one token").In(o.path("max_tokens")))
	}
	s.Temperature = o.number("temperature", 1, 0, 100)
	s.TopK = int(o.whole("top_k", -1, -1, math.MaxInt32))
	s.TopP = max(o.number("top_p", 1, 0, 1), math.SmallestNonzeroFloat64) // 0 leaves the likeliest token, and to the engine it is "off"
	s.Seed = o.seed("seed")
	s.Stop = o.stop("stop")
}

// seed takes any whole number of 64 bits, with or without a sign.
func (o *object) seed(name string) *uint64 {
	raw, there := o.of(name)
	if !there {
		return nil
	}
	var seed uint64
	if json.Unmarshal(raw, &seed) != nil {
		seed = uint64(o.whole(name, 0, math.MinInt64, math.MaxInt64))
	}
	return &seed
}

// stop reads null (the model's own end), a text, texts, tokens, or an empty list: no end.
func (o *object) stop(name string) (s mint.Stop) {
	raw, there := o.of(name)
	switch {
	case !there:
	case raw[0] == '"':
		s.Texts = []string{o.text(name, limits.StopBytes)}
	case len(o.list(name, stopCount)) == 0:
		s.None = true
	case strings.HasPrefix(strings.TrimLeft(string(raw[1:]), " \t\r\n"), `"`):
		for i, item := range o.list(name, stopCount) {
			text, err := limits.Text(fmt.Sprintf("%s[%d]", o.path(name), i), item, limits.StopBytes)
			o.fail(err)
			s.Texts = append(s.Texts, text)
		}
	default:
		s.Tokens = o.tokens(name)
	}
	for _, text := range s.Texts {
		if text == "" {
			o.fail(errs.New(errs.InvalidRequest, "an empty text ends every answer at once", "leave it out").In(o.path(name)))
		}
	}
	return s
}

// targets reads the tokens whose log probabilities are asked for in the prompt of n tokens.
// In a sparse tensor what is not listed is not asked for.
func (o *object) targets(n int) *train.Tensor {
	const name = "target_prompt_logprobs"
	raw, there := o.of(name)
	if !there {
		return nil
	}
	t, err := jsonTensor(o.path(name), raw, newRoom())
	o.fail(err)
	if err != nil {
		return nil
	}
	if sparse := objectOf("", raw); sparse.err == nil && len(sparse.ints("sparse_crow_indices")) > 0 {
		unlisted(&t, sparse)
	}
	if len(t.Shape) != 2 || t.Shape[0] != int64(n-1) || t.Ints == nil {
		o.fail(wrongTensor(o.path(name), fmt.Sprintf("has the shape %v; whole numbers of the shape [%d, K] are taken", t.Shape, n-1)))
		return nil
	}
	return &t
}

// unlisted sets what a sparse tensor does not list to -1: nothing is asked for there.
func unlisted(t *train.Tensor, sparse *object) {
	crow, cols := sparse.ints("sparse_crow_indices"), sparse.ints("sparse_col_indices")
	for row := range t.Shape[0] {
		at := t.Ints[row*t.Shape[1] : (row+1)*t.Shape[1]]
		listed := cols[crow[row]:crow[row+1]]
		for col := range at {
			if len(listed) > 0 && listed[0] == int64(col) {
				listed = listed[1:]
			} else {
				at[col] = -1
			}
		}
	}
}
