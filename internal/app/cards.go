package app

import (
	"net/http"

	"macaron/internal/auth"
	"macaron/internal/ui4a/album"
	"macaron/internal/ui4a/gallery"
	"macaron/internal/ui4a/room"
	"macaron/internal/ui4a/runtime"
	"macaron/internal/ui4a/surface"
)

// cards are the routes of cards: those of conversations, and the browser's side, which is the
// same for everybody.
func (a *App) cards() []entry {
	put := album.New(a.cfg.Home)
	behind := room.Room{Owner: auth.Owner, Fail: a.fail}
	kept := put.Handler(behind)
	cards := surface.New(a.sessions, put, a.ids).Handler(behind)
	return []entry{
		{"POST /v1/cards", auth.Chat, cards},
		{"GET /v1/cards/{turn}", auth.Read, cards},
		{"GET /v1/cards/{turn}/pictures/{name}", auth.Read, cards},
		{"GET /v1/pictures", auth.Read, kept},
		{"PUT /v1/pictures/{name}", auth.Chat, kept},
		{"DELETE /v1/pictures/{name}", auth.Chat, kept},
		{"POST /v1/cards/{turn}/actions", auth.Chat, cards},
		{"POST /v1/cards/{turn}/events", auth.Chat, cards},
		{"GET " + runtime.FramePath, auth.Public, http.HandlerFunc(runtime.ServeFrame)},
		{"GET " + runtime.HostPath + "{name}", auth.Public, http.HandlerFunc(runtime.ServeHost)},
		{"GET " + gallery.Path, auth.Public, http.HandlerFunc(gallery.Serve)},
	}
}
