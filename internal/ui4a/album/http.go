package album

import (
	"encoding/json"
	"net/http"

	"macaron/internal/limits"
)

// Room is what the interface needs of the listener that it stands behind.
type Room struct {
	// Owner is the credential extractor of the one listener.
	Owner func(*http.Request) string
	// Fail answers with an error in the shape that every interface uses.
	Fail func(http.ResponseWriter, error)
}

// Handler serves GET /v1/pictures, PUT and DELETE /v1/pictures/{name}. It expects the guard
// in front of it.
func (s *Store) Handler(room Room) http.Handler {
	mux := http.NewServeMux()
	for pattern, answer := range map[string]func(*http.Request, string) (any, error){
		"GET /v1/pictures":        func(_ *http.Request, owner string) (any, error) { return s.list(owner) },
		"PUT /v1/pictures/{name}": s.put,
		"DELETE /v1/pictures/{name}": func(r *http.Request, owner string) (any, error) {
			return struct{}{}, s.Delete(owner, r.PathValue("name"))
		},
	} {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			v, err := answer(r, room.Owner(r))
			if err != nil {
				room.Fail(w, err)
				return
			}
			w.Header().Set("Content-Type", "application/json")
			w.Header().Set("Cache-Control", "no-store")
			_ = json.NewEncoder(w).Encode(v) // a client that went away is no failure of ours
		})
	}
	return mux
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
