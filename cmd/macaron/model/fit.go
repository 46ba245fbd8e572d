package model

import (
	"fmt"
	"strings"

	"macaron/internal/engine/lora"
	"macaron/internal/engine/model"
	"macaron/internal/errs"
	"macaron/internal/models"
)

// fitView says whether an adapter goes with a model.
type fitView struct {
	Path    string    `json:"path"`
	Fits    bool      `json:"fits"`
	Rank    int       `json:"rank,omitempty"`
	Targets []string  `json:"targets,omitempty"`
	Bytes   int64     `json:"resident_bytes,omitempty"`
	Code    errs.Code `json:"code,omitempty"` // why not
	Reason  string    `json:"reason,omitempty"`
}

// viewFits tries each adapter on a loaded model.
func viewFits(m *model.Model, name string, paths []string) []fitView {
	var out []fitView
	for _, p := range paths {
		v := fitView{Path: p}
		a, err := lora.Load(p, m.Shape(name))
		if err == nil {
			v.Fits, v.Rank, v.Targets, v.Bytes = true, a.Rank(), a.Revision.Targets, a.Bytes()
		} else {
			e := errs.As(err)
			v.Code, v.Reason = e.Code, e.Message
		}
		out = append(out, v)
	}
	return out
}

func (v fitView) String() string {
	if !v.Fits {
		return v.Path + " does not fit: " + v.Reason
	}
	return fmt.Sprintf("%s fits: rank %d on %s, %s", v.Path, v.Rank, strings.Join(v.Targets, ", "), models.Size(v.Bytes))
}

// adapterParameters is what a rank-1 adapter on all linear layers holds.
func adapterParameters(s lora.Shape) int64 {
	n := 0
	for t := range s.In {
		n += s.In[t] + s.Out[t]
	}
	return int64(n * s.Layers)
}
