package web

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"net/http"
	"path"
	"time"

	"macaron/internal/errs"
	"macaron/internal/ui4a/runtime"
)

//go:embed static
var static embed.FS

// policy lets the page load what is embedded here and talk to this server, nothing
// else: no inline script or style, no other origin, no frame around it. The chat page may
// have the frames of cards in it besides.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; " +
	"img-src 'self' data:; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"

// chatPage is the file of the page that shows cards.
const chatPage = "index.html"

// kinds are the content types of the embedded files. They are not asked of the
// machine, whose table may call a script plain text.
var kinds = map[string]string{
	".html": "text/html; charset=utf-8",
	".css":  "text/css; charset=utf-8",
	".js":   "text/javascript; charset=utf-8",
	".svg":  "image/svg+xml",
}

// asset is one embedded file; the tag names its content.
type asset struct {
	body []byte
	kind string
	tag  string
}

// loadAssets reads the embedded files by name; what is embedded can be read.
func loadAssets() map[string]asset {
	entries, err := static.ReadDir("static")
	if err != nil {
		panic(err)
	}
	all := make(map[string]asset, len(entries))
	for _, e := range entries {
		body, err := static.ReadFile("static/" + e.Name())
		if err != nil {
			panic(err)
		}
		if e.Name() != framed {
			all[e.Name()] = assetOf(e.Name(), body)
			continue
		}
		for name, f := range frames {
			all[name] = assetOf(name, f.render(body))
		}
	}
	return all
}

func assetOf(name string, body []byte) asset {
	sum := sha256.Sum256(body)
	return asset{body: body, kind: kinds[path.Ext(name)], tag: `"` + hex.EncodeToString(sum[:16]) + `"`}
}

func (s *server) page(name string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		in := policy
		if name == chatPage {
			in += "; frame-src " + runtime.HostFrameSource(r.Host)
		}
		serve(w, r, s.assets[name], in)
	}
}

func (s *server) asset(w http.ResponseWriter, r *http.Request) {
	a, ok := s.assets[r.PathValue("name")]
	if !ok {
		s.Fail(w, errs.New(errs.NotFound, "there is no such part of the page", "reload the page"))
		return
	}
	serve(w, r, a, policy)
}

// serve sends a file. The browser asks every time and gets 304 while the tag holds,
// so that a new build never meets parts of an old one.
func serve(w http.ResponseWriter, r *http.Request, a asset, policy string) {
	h := w.Header()
	h.Set("Content-Type", a.kind)
	h.Set("Cache-Control", "no-cache")
	h.Set("ETag", a.tag)
	h.Set("Content-Security-Policy", policy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Permissions-Policy", "camera=(), geolocation=(), microphone=(), payment=(), usb=()")
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(a.body))
}
