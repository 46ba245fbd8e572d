package web

import (
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
)

func serveStatic(t *testing.T, method, path, tag string) *http.Response {
	t.Helper()
	w := httptest.NewRecorder()
	r := httptest.NewRequest(method, path, nil)
	if tag != "" {
		r.Header.Set("If-None-Match", tag)
	}
	Handler(Deps{Fail: func(w http.ResponseWriter, _ error) { w.WriteHeader(http.StatusNotFound) }}).ServeHTTP(w, r)
	return w.Result()
}

func TestThePageIsServedWithAStrictPolicy(t *testing.T) {
	for _, ask := range [][2]string{{http.MethodGet, "/"}, {http.MethodHead, "/"}, {http.MethodGet, "/runs"}, {http.MethodGet, "/training"}} {
		r := serveStatic(t, ask[0], ask[1], "")
		want := "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; " +
			"frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
		if ask[1] == "/" {
			want += "; frame-src example.com/ui4a/frame" // of cards
		}
		if r.StatusCode != 200 || r.Header.Get("Content-Security-Policy") != want || r.Header.Get("Content-Type") != "text/html; charset=utf-8" {
			t.Errorf("%s: %d %v", ask, r.StatusCode, r.Header)
		}
	}
}

func TestAssetsAreTaggedByContent(t *testing.T) {
	for name := range loadAssets() {
		first := serveStatic(t, http.MethodGet, "/assets/"+name, "")
		if first.StatusCode != 200 || first.Header.Get("Content-Type") == "" || first.Header.Get("Cache-Control") != "no-cache" {
			t.Errorf("%s: %d %v", name, first.StatusCode, first.Header)
		}
		if again := serveStatic(t, http.MethodGet, "/assets/"+name, first.Header.Get("ETag")); again.StatusCode != http.StatusNotModified {
			t.Errorf("%s was sent again: %d", name, again.StatusCode)
		}
	}
	if r := serveStatic(t, http.MethodGet, "/assets/nothing.js", ""); r.StatusCode != 404 {
		t.Errorf("an unknown asset: %d", r.StatusCode)
	}
}

var (
	reference = regexp.MustCompile(`(?:src|href|from|import)\s*[=(]?\s*"(?:/assets/|\./)([^"]+)"`)
	inline    = regexp.MustCompile(`(?i)\sstyle=|\son[a-z]+=|<style|<script(?: type="?[a-z]+"?)?>`)
	markup    = regexp.MustCompile(`innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b|new Function|DOMParser|createContextualFragment|setHTML|srcdoc`)
	foreign   = regexp.MustCompile(`(?:https?:)?//[a-z0-9.-]+\.[a-z]+`)
)

// TestTheFilesKeepToThePolicy reads what the browser tests cannot see: that nothing is
// referenced that is not there, and that no file knows a way from text to markup.
func TestTheFilesKeepToThePolicy(t *testing.T) {
	assets := loadAssets()
	for name, a := range assets {
		text := string(a.body)
		for _, m := range reference.FindAllStringSubmatch(text, -1) {
			if _, ok := assets[m[1]]; !ok {
				t.Errorf("%s refers to %s, which is not there", name, m[1])
			}
		}
		if m := foreign.FindString(strings.ReplaceAll(text, "http://www.w3.org/2000/svg", "")); m != "" {
			t.Errorf("%s refers to another machine: %s", name, m)
		}
		if m := markup.FindString(text); strings.HasSuffix(name, ".js") && m != "" {
			t.Errorf("%s uses %s", name, m)
		}
		if m := inline.FindString(text); strings.HasSuffix(name, ".html") && m != "" {
			t.Errorf("the page has inline code or style: %q", m)
		}
	}
}
