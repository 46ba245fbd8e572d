package tinker

import (
	"strings"

	"macaron/internal/mint"
)

// result encodes what a future has come to, as protobuf where that is asked for and the
// operation has a message; the content type tells which.
func result(o mint.Outcome, proto bool) (body []byte, contentType string) {
	r := o.Result
	switch {
	case r.Output != nil && proto:
		return protoOutput(r.Output), protobuf
	case r.Sample != nil && proto:
		return protoSamples(r.Sample), protobuf
	case r.Output != nil:
		return jsonOutput(r.Output), jsonType
	case r.Sample != nil:
		return jsonSamples(r.Sample), jsonType
	}
	return encode(plain(o)), jsonType
}

const jsonType = "application/json"

// saved is the answer to save_weights and its kind, and to load_weights.
type saved struct {
	Path    *string `json:"path"`
	Sampler string  `json:"sampling_session_id,omitempty"`
	Model   string  `json:"model_id,omitempty"`
	Type    string  `json:"type"`
}

type named struct {
	Model string `json:"model_id"`
	Type  string `json:"type"`
}

type stepped struct {
	Metrics map[string]float64 `json:"metrics"`
	Type    string             `json:"type"`
}

// plain is the result of an operation that JSON answers in every dialect.
func plain(o mint.Outcome) any {
	r := o.Result
	switch o.Op {
	case mint.OpStep:
		return stepped{r.Metrics, string(o.Op)}
	case mint.OpCreate, mint.OpUnload:
		return named{r.Model, string(o.Op)}
	}
	s := saved{Sampler: r.Sampler, Type: string(o.Op)}
	if r.Path != "" {
		s.Path = &r.Path
	}
	if o.Op == mint.OpLoad {
		s.Model = r.Model
	} else {
		s.Type = savedAs(r)
	}
	return s
}

// savedAs is the type of an answer, by what was saved.
func savedAs(r *mint.Result) string {
	switch {
	case r.Sampler != "" || strings.Contains(r.Path, "/"+string(mint.Sampling)+"/"):
		return "save_weights_for_sampler"
	case strings.Contains(r.Path, "/"+string(mint.External)+"/"):
		return "save_weights_external"
	}
	return "save_weights"
}
