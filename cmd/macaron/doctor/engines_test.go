package doctor

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"macaron/internal/config"
)

// Each of the usual mistakes with an engine below is found and named.
func TestTheDoctorFindsWhatIsWrongWithEngines(t *testing.T) {
	probes := func(answers map[string]string) string {
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			text, ok := answers[r.URL.Path]
			if !ok {
				w.WriteHeader(http.StatusNotFound)
			}
			_, _ = io.WriteString(w, text)
		}))
		t.Cleanup(srv.Close)
		return srv.URL + "/v1"
	}
	list := func(owner, revision string) string {
		out := `{"data":[{"id":"m","owned_by":"` + owner + `"}`
		for _, name := range []string{"L0", "L1", "L2", "L3"} {
			out += `,{"id":"` + name + `","owned_by":"` + owner + `","parent":"m","revision":"` + revision + `"}`
		}
		return out + "]}"
	}
	few := `{"data":[{"id":"L0","owned_by":"vllm"}]}`
	for name, tc := range map[string]struct {
		answers map[string]string
		dialect string
		url     string
		status  string
		says    string
	}{
		"right":           {map[string]string{"/v1/models": list("vllm", ""), "/version": `{"version":"0.32.0"}`}, "vllm", "", "ok", "vllm 0.32.0"},
		"wrong dialect":   {map[string]string{"/v1/models": list("vllm", ""), "/version": `{"version":"0.32.0"}`}, "sglang", "", "problem", "dialect sglang, and is vllm"},
		"missing adapter": {map[string]string{"/v1/models": few, "/version": `{"version":"0.32.0"}`}, "auto", "", "problem", `nothing called "L1"`},
		"other weights":   {map[string]string{"/v1/models": list("macaron", "sha256:00"), "/version": `{"version":"1","engine":"macaron"}`}, "auto", "", "problem", "other weights"},
		"no constraint":   {map[string]string{"/v1/models": list("somebody", "")}, "auto", "", "note", "no kind that is known"},
		"itself":          {nil, "auto", "http://127.0.0.1:8765/v1", "problem", "its own engine"},
		"not there":       {nil, "auto", "http://127.0.0.1:1/v1", "problem", "does not answer"},
	} {
		home := t.TempDir()
		url := tc.url
		if url == "" {
			url = probes(tc.answers)
		}
		text := "[[engines]]\nname = \"gpu\"\nurl = \"" + url + "\"\ndialect = \"" + tc.dialect + "\"\n"
		if err := os.WriteFile(filepath.Join(home, "config.toml"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		c, err := config.Load(map[string]string{"home": home, "contract": "../../../macaron.toml", "listen": "127.0.0.1:8765"})
		if err != nil {
			t.Fatal(err)
		}
		found := false
		for _, f := range checkEngines(t.Context(), c) {
			found = found || f.Check == "gpu" && f.Status == tc.status && strings.Contains(f.Detail, tc.says)
		}
		if !found {
			t.Errorf("%s: %+v", name, checkEngines(t.Context(), c))
		}
	}
}
