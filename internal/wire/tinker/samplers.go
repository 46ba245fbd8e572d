package tinker

import (
	"math"
	"net/http"

	"macaron/internal/limits"
	"macaron/internal/mint"
)

func (a *api) createSampler(w http.ResponseWriter, r *http.Request) error {
	o, err := body(r)
	if err != nil {
		return err
	}
	o.need("sampling_session_seq_id")
	n := mint.NewSampler{Session: o.id("session_id"), Seq: o.whole("sampling_session_seq_id", 0, 0, math.MaxInt64), Base: o.name("base_model")}
	if _, there := o.of("model_path"); there {
		n.Path = o.uri("model_path")
	}
	if err := o.close(); err != nil {
		return err
	}
	s, err := a.Service.CreateSampler(r.Context(), a.owner(r), n)
	if err != nil {
		return err
	}
	return a.answer(w, r, map[string]string{"type": "create_sampling_session", "sampling_session_id": s.ID})
}

// sampler tells what a sampler is of; the SDK asks before it loads a tokenizer.
func (a *api) sampler(w http.ResponseWriter, r *http.Request) error {
	s, err := a.Service.Sampler(r.Context(), a.owner(r), r.PathValue("id"))
	if err != nil {
		return err
	}
	v := map[string]string{"sampler_id": s.ID, "base_model": s.Base}
	if s.Path != "" {
		v["model_path"] = s.Path
	}
	return a.answer(w, r, v)
}

func (a *api) sample(w http.ResponseWriter, r *http.Request) error {
	c, err := read(r, limits.BodyBytes, false)
	if err != nil {
		return err
	}
	s, err := jsonSample(c.bytes)
	if err != nil {
		return err
	}
	p, err := a.Service.Sample(r.Context(), a.owner(r), s)
	return a.promise(w, r, p, err)
}
