package app

import (
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"macaron/internal/adapter"
	"macaron/internal/auth"
	"macaron/internal/errs"
	"macaron/internal/ids"
)

// traversals are forms in which a name leads out of a directory, to a device or to somebody's file.
var traversals = []string{
	"..", ".", "../..", "../../../../etc/passwd", "..\\..\\etc\\passwd", "..\\/..\\/etc/passwd", "....//....//etc/passwd", "..././..././etc/passwd",
	"%2e%2e", "%2e%2e%2fetc%2fpasswd", "%2e%2e/%2e%2e/etc/passwd", "..%2f..%2fetc%2fpasswd", "..%5c..%5cetc%5cpasswd", "%252e%252e%252fetc%252fpasswd", "..%252f..%252fetc",
	"..%c0%af..%c0%afetc", "%c0%ae%c0%ae/etc", "..%ef%bc%8fetc", "..\u2215etc", "\uff0e\uff0e/etc", "..\u2024/etc",
	"/etc/passwd", "//etc/passwd", "\\\\server\\share", "C:\\Windows\\win.ini", "C:/Windows/win.ini", "file:///etc/passwd", "file://localhost/etc/passwd",
	"log.db", "../log.db", "keys/keys.toml", "../keys/keys.toml", "../../keys/keys.toml", "config.toml", "../macaron.toml", "blobs/../log.db",
	"a\x00b", "../etc/passwd\x00.svg", "%00", "..%00/", "a\nb", "a\rb",
	"/dev/null", "/dev/zero", "/proc/self/environ", "/proc/self/fd/0", "CON", "NUL", "COM1", "aux.txt",
	"~", "~root", "~/.ssh/id_rsa", "$HOME", "${HOME}/x", "$(id)", "`id`", "*", "?", "[a-z]", "index.html/..", "index.html/../../log.db", "index.html%00.js", "static/index.html", "../static/index.html",
	strings.Repeat("../", 400), strings.Repeat("a", 5000), ".git/config", ".env",
}

// leaked are words of files that a traversal would show.
var leaked = []string{"root:x:0", "root:*:", "digest = ", "[[keys]]", "SQLite format", "[[adapters]]", "PATH=", "HOME="}

func shows(body string) string {
	for _, word := range leaked {
		if strings.Contains(body, word) {
			return word
		}
	}
	return ""
}

// No name in an address or a header leads anywhere but to what it names.
func TestNamesInRoutesLeadNowhere(t *testing.T) {
	k, secrets := keyedSite(t, map[string]auth.Key{"good": {}})
	if err := os.WriteFile(filepath.Join(k.cfg.Home, "config.toml"), []byte("# [[keys]]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	good := with("Bearer", secrets["good"])
	tried := 0
	for _, e := range k.entries {
		method, path, _ := strings.Cut(e.pattern, " ")
		if !strings.Contains(path, "{") || strings.HasSuffix(path, "{$}") {
			continue
		}
		for _, name := range traversals {
			for _, raw := range []string{url.PathEscape(name), url.PathEscape(url.PathEscape(name)), (&url.URL{Path: name}).EscapedPath()} {
				resp, body := k.send(method, "/", "", good, func(r *http.Request) { opaque(r, filled(path, raw)) })
				if word := shows(body); word != "" || resp.StatusCode >= 500 {
					t.Errorf("%s with %.40q gives %d and shows %q", e.pattern, raw, resp.StatusCode, word)
				}
				tried++
			}
		}
	}
	for _, name := range traversals {
		for _, change := range []func(*http.Request){
			func(r *http.Request) { r.Header["X-Macaron-Session"] = []string{clean(name)} },
			func(r *http.Request) { r.Header["X-Macaron-Parent-Turn"] = []string{clean(name)} },
		} {
			if resp := k.post(ask(user("L2: x")), good, change); resp.StatusCode != http.StatusBadRequest {
				t.Errorf("a place of %.40q gives %d", name, resp.StatusCode)
			}
		}
		o := ask(user("L2: x"))
		o["model"] = "macaron/" + name
		if resp := k.post(o, good); resp.StatusCode/100 != 4 {
			t.Errorf("the model %.40q gives %d", name, resp.StatusCode)
		}
	}
	if tried < 50*3 || len(traversals) < 50 {
		t.Errorf("only %d requests, %d forms", tried, len(traversals))
	}
	for _, seen := range k.engine.Seen() {
		t.Errorf("the engine was asked for %q", seen.Revision.Name)
	}
}

// opaque sends a path as it stands, uncleaned.
func opaque(r *http.Request, path string) { r.URL.Opaque, r.URL.Path = path, "" }

// clean takes out what no header may carry, so that the rest of the name arrives.
func clean(name string) string {
	return strings.NewReplacer("\n", "", "\r", "", "\x00", "").Replace(name)
}

// What the command line takes as names becomes no path either.
func TestNamesOfCommandsLeadNowhere(t *testing.T) {
	k, _ := keyedSite(t, map[string]auth.Key{"good": {}})
	before := filesIn(t, k.cfg.Home)
	for _, name := range traversals {
		if _, err := ids.ParseDigest("sha256:" + name); err == nil {
			t.Errorf("the digest %.40q passed", name)
		}
		strange := strings.ContainsAny(name, "/\\%\x00\n\r:~$*?[`\u2215\uff0e\u2024") || len(name) > 64 || strings.HasPrefix(name, ".")
		if strange && adapter.CheckName(name) == nil {
			t.Errorf("the adapter %.40q passed", name)
		}
		if _, _, err := k.Create(t.Context(), auth.Key{Tenant: name, Scopes: []auth.Scope{auth.Chat}}); strange && errs.CodeOf(err) != errs.InvalidRequest {
			t.Errorf("the tenant %.40q gives %v", name, err)
		}
		if _, err := k.Revoke(t.Context(), name); errs.CodeOf(err) != errs.NotFound {
			t.Errorf("the key %.40q gives %v", name, err)
		}
	}
	after := filesIn(t, k.cfg.Home)
	for path := range after {
		if _, was := before[path]; !was && !strings.HasPrefix(filepath.Base(path), "log.db") && filepath.Dir(path) != auth.Dir(k.cfg.Home) {
			t.Errorf("%s was made", path)
		}
	}
}
