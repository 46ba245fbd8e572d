package gallery

import (
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html"
	"net/http"
	"strings"
	"sync"

	"macaron/internal/ui4a/compile"
	"macaron/internal/ui4a/runtime"
)

// Path is where the page of all cards is.
const Path = "/ui4a/gallery"

//go:embed gallery.js
var script string

//go:embed gallery.css
var style string

// shown is what the page's script gets of one card.
type shown struct {
	Name     string          `json:"name"`
	Revision string          `json:"revision"`
	Script   string          `json:"script"`
	Source   string          `json:"source"`
	Keys     map[string]noAI `json:"keys"`
}

type noAI struct {
	NoAI bool `json:"noai"`
}

//go:embed gallery.html
var shell string

// page is the whole document: the shell of the web interface, and in it every card with its
// source, and a place for it.
var page = sync.OnceValue(func() string {
	var cards []shown
	var places, links strings.Builder
	for _, c := range Cards() {
		r, _ := compile.Compile(c.Source, compile.Options{}) // a test wants no finding
		s := shown{Name: c.Name, Revision: string(r.Revision), Script: r.JS, Source: c.Source, Keys: map[string]noAI{}}
		for _, k := range r.Keys {
			s.Keys[k.Name] = noAI{k.NoAI}
		}
		cards = append(cards, s)
		fmt.Fprintf(&links, "<a href=\"#%[1]s\"><span class=\"name\">%[1]s</span></a>\n", c.Name)
		fmt.Fprintf(&places, "<section id=\"%[1]s\"><h2>%[1]s</h2><div class=\"place\"></div><details><summary>Source of %[1]s</summary><pre tabindex=\"0\">%[2]s</pre></details></section>\n", c.Name, html.EscapeString(c.Source))
	}
	data, err := json.Marshal(cards) // "<" is written as an escape, so it ends no element
	if err != nil {
		panic(err) // texts and booleans
	}
	return strings.NewReplacer("{{host}}", runtime.HostPath, "{{style}}", style, "{{links}}", links.String(), "{{places}}", places.String(), "{{cards}}", string(data), "{{script}}", script).Replace(shell)
})

// Serve serves the page at Path. It shows the gallery's own cards and nothing of the
// request. Beside it there have to be the frame and the host's modules of package runtime,
// and the parts of the web interface at /assets/.
func Serve(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", "default-src 'none'; script-src 'self' '"+digest(script)+"'; style-src 'self' '"+digest(style)+"'; img-src 'self'; frame-src "+runtime.HostFrameSource(r.Host)+
		"; base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cache-Control", "no-cache")
	_, _ = w.Write([]byte(page())) // a client that went away
}

func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}
