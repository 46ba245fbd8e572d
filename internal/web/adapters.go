package web

import (
	"net/http"

	"macaron/internal/ids"
)

type adapterList struct {
	Data []adapterView `json:"data"`
}

type adapterView struct {
	Name        string     `json:"name"`
	Title       string     `json:"title"`
	Description string     `json:"description"`
	Model       string     `json:"model"` // the public model id that forces it
	Default     bool       `json:"default,omitempty"`
	Revision    ids.Digest `json:"revision,omitempty"`
	Base        ids.Digest `json:"base,omitempty"`
	Rank        int        `json:"rank,omitempty"`
	Params      int64      `json:"params,omitempty"`
	Bytes       int64      `json:"bytes,omitempty"`
}

func (s *server) adapters(r *http.Request) (any, error) {
	all, err := s.Adapters(r.Context(), s.Owner(r))
	if err != nil {
		return nil, err
	}
	list := adapterList{Data: make([]adapterView, 0, len(all))}
	for _, a := range all {
		rev := a.Revision
		list.Data = append(list.Data, adapterView{
			Name: rev.Name, Title: a.Title, Description: a.Description, Model: "macaron/" + rev.Name, Default: a.Default,
			Revision: rev.Hash, Base: rev.Base, Rank: rev.Rank, Params: rev.Params, Bytes: rev.Bytes,
		})
	}
	return list, nil
}
