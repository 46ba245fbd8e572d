package runtime

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"net/http"
	"path"
	"strings"
	"sync"
	"time"

	"macaron/internal/errs"
)

// Where the browser side is found on a server.
const (
	FramePath = "/ui4a/frame"
	HostPath  = "/ui4a/host/"
)

// FramePolicies are the two content security policies of the frame's document. Both are
// in force, so a script runs only if both admit it: the runtime, by its hash, and what
// the runtime itself adds from an address of the document's own (docs/formats/ui4a-boundary.md).
func FramePolicies() [2]string {
	hash := "'" + ScriptHash() + "'"
	return [2]string{
		"sandbox allow-scripts; default-src 'none'; script-src " + hash + " 'strict-dynamic'; style-src 'unsafe-inline'; img-src data: blob:; font-src data:; " +
			"connect-src 'none'; frame-src 'none'; worker-src 'none'; object-src 'none'; media-src 'none'; manifest-src 'none'; " +
			"form-action 'none'; base-uri 'none'; frame-ancestors 'self'; require-trusted-types-for 'script'; trusted-types ui4a default",
		"script-src " + hash + " blob:",
	}
}

// reachable are the addresses that the frame's document may make the browser contact, by
// navigation and preconnect as well, which no content security policy covers: none.
// Chromium holds to it; others ignore it.
const reachable = "()"

// HostFrameSource is the source expression of frame-src that a page with cards needs:
// the frame's document alone. It is the page's policy that keeps a card from navigating
// its frame elsewhere. host is the request's Host, which the caller has checked.
func HostFrameSource(host string) string { return host + FramePath }

// denied are the features that the frame's document must not use, nor any below it.
var denied = strings.Split("accelerometer ambient-light-sensor attribution-reporting autoplay bluetooth browsing-topics camera clipboard-read clipboard-write "+
	"compute-pressure cross-origin-isolated display-capture encrypted-media focus-without-user-activation fullscreen gamepad geolocation gyroscope hid identity-credentials-get idle-detection "+
	"interest-cohort join-ad-interest-group keyboard-map local-fonts local-network-access magnetometer microphone midi otp-credentials payment picture-in-picture "+
	"private-aggregation private-state-token-issuance private-state-token-redemption publickey-credentials-create publickey-credentials-get "+
	"run-ad-auction screen-wake-lock serial shared-storage shared-storage-select-url speaker-selection storage-access sync-xhr unload usb web-share window-management xr-spatial-tracking", " ")

// document is the frame's document: no card is in it, and nothing of a request.
var document = sync.OnceValue(func() []byte {
	return []byte("<!doctype html><html lang=\"en\"><head><title>Card</title><style>" + Style() + "</style></head><body><script>" + Script() + "</script></body></html>\n")
})

// ServeFrame serves the frame's document: the same bytes for everybody.
func ServeFrame(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Del("Content-Security-Policy")
	h.Del("X-Frame-Options") // the policy's frame-ancestors says who may frame it
	for _, p := range FramePolicies() {
		h.Add("Content-Security-Policy", p)
	}
	h.Set("Permissions-Policy", strings.Join(denied, "=(), ")+"=()")
	h.Set("Connection-Allowlist", reachable)
	h.Set("X-DNS-Prefetch-Control", "off")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	serve(w, r, document(), "text/html; charset=utf-8")
}

//go:embed host
var host embed.FS

// HostFile gives one of the modules, or the stylesheet, with which a page holds surfaces.
func HostFile(name string) ([]byte, error) { return host.ReadFile("host/" + path.Base(name)) }

// ServeHost serves the modules and the stylesheet with which a page holds surfaces; the
// path's value "name" says which.
func ServeHost(w http.ResponseWriter, r *http.Request) {
	name := r.PathValue("name")
	body, err := HostFile(name)
	if err != nil {
		e := errs.New(errs.NotFound, "there is no such part of the page", "reload the page")
		http.Error(w, e.Message, e.Code.Status())
		return
	}
	kind := "text/javascript; charset=utf-8"
	if path.Ext(name) == ".css" {
		kind = "text/css; charset=utf-8"
	}
	w.Header().Set("Content-Security-Policy", "default-src 'none'")
	serve(w, r, body, kind)
}

func serve(w http.ResponseWriter, r *http.Request, body []byte, kind string) {
	sum := sha256.Sum256(body)
	h := w.Header()
	h.Set("Content-Type", kind)
	h.Set("Cache-Control", "no-cache")
	h.Set("ETag", `"`+hex.EncodeToString(sum[:16])+`"`)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(body))
}
