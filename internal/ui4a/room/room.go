// Package room is what the interfaces of cards share: who asks, and how an answer or an error
// is written.
package room

import (
	"encoding/json"
	"net/http"
)

// Room is what an interface needs of the listener that it stands behind.
type Room struct {
	// Owner is the credential extractor of the one listener.
	Owner func(*http.Request) string
	// Fail answers with an error in the shape that every interface uses.
	Fail func(http.ResponseWriter, error)
}

// Answer is what a route says to an owner's request, written as JSON.
type Answer func(r *http.Request, owner string) (any, error)

// Mux serves the routes, each by its pattern. What they answer is stored by nobody on the way.
func (room Room) Mux(routes map[string]Answer) *http.ServeMux {
	mux := http.NewServeMux()
	for pattern, answer := range routes {
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
