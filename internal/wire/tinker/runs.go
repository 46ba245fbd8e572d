package tinker

import (
	"net/http"

	"macaron/internal/mint"
)

type trainingRun struct {
	ID        string      `json:"training_run_id"`
	Base      string      `json:"base_model"`
	Owner     string      `json:"model_owner"`
	LoRA      bool        `json:"is_lora"`
	Rank      int         `json:"lora_rank"`
	Corrupted bool        `json:"corrupted"`
	Used      string      `json:"last_request_time"`
	Training  *checkpoint `json:"last_checkpoint"`
	Sampling  *checkpoint `json:"last_sampler_checkpoint"`
	Metadata  any         `json:"user_metadata,omitempty"`
}

func runOf(m mint.Model) trainingRun {
	t := trainingRun{ID: m.ID, Base: m.Base, Owner: m.Owner, LoRA: true, Rank: m.Spec.Rank, Corrupted: m.Corrupted, Used: stamp(m.Used)}
	for _, last := range []struct {
		from *mint.Checkpoint
		into **checkpoint
	}{{m.Training, &t.Training}, {m.Sampling, &t.Sampling}} {
		if last.from != nil {
			c := checkpointOf(*last.from)
			*last.into = &c
		}
	}
	if len(m.Metadata) > 0 {
		t.Metadata = texts(m.Metadata)
	}
	return t
}

func (a *api) runs(w http.ResponseWriter, r *http.Request) error {
	p, err := page(r, 20)
	if err != nil {
		return err
	}
	list, total, err := a.Service.Models(r.Context(), a.owner(r), p)
	if err != nil {
		return err
	}
	all := []trainingRun{}
	for _, m := range list {
		all = append(all, runOf(m))
	}
	return a.answer(w, r, map[string]any{"training_runs": all, "cursor": cursor{p.Offset, p.Limit, total}})
}

func (a *api) run(w http.ResponseWriter, r *http.Request) error {
	m, err := a.Service.Model(r.Context(), a.owner(r), r.PathValue("run"))
	if err != nil {
		return err
	}
	return a.answer(w, r, runOf(m))
}
