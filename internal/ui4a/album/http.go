package album

import (
	"net/http"

	"macaron/internal/limits"
	"macaron/internal/ui4a/room"
)

// Handler serves GET /v1/pictures, PUT and DELETE /v1/pictures/{name}. It expects the guard
// in front of it.
func (s *Store) Handler(behind room.Room) http.Handler {
	return behind.Mux(map[string]room.Answer{
		"GET /v1/pictures":        func(_ *http.Request, owner string) (any, error) { return s.list(owner) },
		"PUT /v1/pictures/{name}": s.put,
		"DELETE /v1/pictures/{name}": func(r *http.Request, owner string) (any, error) {
			return struct{}{}, s.Delete(owner, r.PathValue("name"))
		},
	})
}

func (s *Store) list(owner string) (any, error) {
	all, err := s.List(owner)
	return map[string]any{"data": all}, err
}

func (s *Store) put(r *http.Request, owner string) (any, error) {
	data, err := limits.Bytes(r.Body, r.ContentLength, MaxBytes)
	if err != nil {
		return nil, err
	}
	name := r.PathValue("name")
	return Picture{name, int64(len(data))}, s.Put(owner, name, data)
}
