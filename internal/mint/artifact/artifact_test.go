package artifact

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/google/go-containerregistry/pkg/registry"
	"oras.land/oras-go/v2"

	"macaron/internal/adapter"
	"macaron/internal/engine/lora"
	"macaron/internal/errs"
	"macaron/internal/ids"
	"macaron/internal/mint/catalogue"
)

const tiny = "../../engine/testdata/tiny/a"

func bundle(t *testing.T) Bundle {
	t.Helper()
	f, err := catalogue.ReadDir(tiny)
	if err != nil {
		t.Fatal(err)
	}
	content, err := lora.Parse(f.Config, f.Tensors)
	if err != nil {
		t.Fatal(err)
	}
	rev := content.Revision()
	rev.Name = "a"
	state := []byte("moments")
	return Bundle{Files: f, Recipe: "lr = 1", Published: adapter.Published{Revision: rev, Parent: ids.DigestOf([]byte("p")), Recipe: ids.DigestOf([]byte("lr = 1")),
		Metrics: map[string]float64{"reward": 0.5}, Created: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), Signature: "{}"},
		State: []State{{Role: "optimizer", Digest: ids.DigestOf(state), Size: int64(len(state)), Open: opener(state)}}}
}

func opener(b []byte) func(context.Context) (io.ReadCloser, error) {
	return func(context.Context) (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(b)), nil }
}

// There and back: by a layout, a tar of it is the same, and by a real registry over HTTP.
func TestRoundTrip(t *testing.T) {
	server := httptest.NewServer(registry.New(registry.Logger(log.New(io.Discard, "", 0))))
	defer server.Close()
	name := Prefix + strings.TrimPrefix(server.URL, "http://") + "/team/adapters:v1"
	want := bundle(t)
	dir := t.TempDir()
	layout, err := Layout(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	remote, tag, err := Repository(name, Access{PlainHTTP: true})
	if err != nil {
		t.Fatal(err)
	}
	one, err := Push(t.Context(), layout, want, "v1")
	if err != nil {
		t.Fatal(err)
	}
	two, err := Push(t.Context(), remote, want, tag)
	if err != nil || one != two {
		t.Fatalf("%s on disk, %s in the registry, %v", one, two, err)
	}
	again, err := Existing(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	for where, from := range map[string]oras.ReadOnlyTarget{"layout": again, "registry": remote} {
		got, err := Pull(t.Context(), from, "v1")
		if err != nil {
			t.Fatal(where, err)
		}
		if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(State{}, "Open")); diff != "" {
			t.Error(where, diff)
		}
		r, err := got.State[0].Open(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if b, err := io.ReadAll(r); err != nil || string(b) != "moments" {
			t.Errorf("%s: state %q, %v", where, b, err)
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
		if _, err := Pull(t.Context(), from, "v2"); errs.CodeOf(err) != errs.NotFound {
			t.Errorf("%s: no tag: %v", where, err)
		}
	}
}

// Every byte of every file of a layout that is changed is refused or changes nothing.
func TestDamagedLayouts(t *testing.T) {
	want, dir := bundle(t), t.TempDir()
	want.State = nil
	layout, err := Layout(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Push(t.Context(), layout, want, "v1"); err != nil {
		t.Fatal(err)
	}
	tried := 0
	err = filepath.WalkDir(filepath.Join(dir, "blobs"), func(path string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		good, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for i := 0; i < len(good); i += max(1, len(good)/40) {
			bad := bytes.Clone(good)
			bad[i] ^= 1
			if err := overwrite(path, bad); err != nil {
				return err
			}
			from, err := Existing(t.Context(), dir)
			if err == nil {
				_, err = Pull(t.Context(), from, "v1")
			}
			if err == nil {
				t.Errorf("byte %d of %s", i, path)
			}
			tried++
		}
		return overwrite(path, good)
	})
	if err != nil || tried < 100 {
		t.Error(tried, err)
	}
}

func overwrite(path string, b []byte) error {
	if err := os.Remove(path); err != nil {
		return err
	}
	return os.WriteFile(path, b, 0o600)
}

// What a stranger could put into a layout is refused with the reason.
func TestHostileArtifacts(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*Bundle, map[string]any)
		code   errs.Code
		says   string
	}{
		"other type":     {func(_ *Bundle, m map[string]any) { m["artifactType"] = "application/x" }, errs.FormatInvalid, "application/x"},
		"many layers":    {func(_ *Bundle, m map[string]any) { m["layers"] = make([]any, 9) }, errs.FormatInvalid, "layers"},
		"twice":          {func(_ *Bundle, m map[string]any) { l := m["layers"].([]any); l[1] = l[0] }, errs.FormatInvalid, "two layers"},
		"none":           {func(_ *Bundle, m map[string]any) { m["layers"] = []any{} }, errs.FormatInvalid, "lacks"},
		"strange":        {func(_ *Bundle, m map[string]any) { layer(m, 0)["mediaType"] = "text/x" }, errs.FormatInvalid, "text/x"},
		"huge":           {func(_ *Bundle, m map[string]any) { layer(m, 1)["size"] = 1 << 40 }, errs.TooLarge, "bytes"},
		"longer":         {func(_ *Bundle, m map[string]any) { layer(m, 1)["size"] = 1 << 30 }, errs.FormatInvalid, "cannot be read"},
		"negative":       {func(_ *Bundle, m map[string]any) { layer(m, 1)["size"] = -1 }, errs.TooLarge, "-1"},
		"climbing":       {func(_ *Bundle, m map[string]any) { layer(m, 1)["digest"] = "../../etc/passwd" }, errs.FormatInvalid, "digest"},
		"other recipe":   {func(b *Bundle, _ map[string]any) { b.Recipe = "lr = 2" }, errs.ChecksumMismatch, "recipe"},
		"no revision":    {func(b *Bundle, _ map[string]any) { b.Published.Hash = "x" }, errs.FormatInvalid, "names no revision"},
		"strange state":  {func(b *Bundle, _ map[string]any) { b.State[0].Role = "weights" }, errs.FormatInvalid, "weights"},
		"no manifest":    {func(_ *Bundle, m map[string]any) { m["config"] = map[string]any{} }, errs.FormatInvalid, "configuration"},
		"absent content": {func(_ *Bundle, m map[string]any) { layer(m, 1)["digest"] = string(ids.DigestOf(nil)) }, errs.NotFound, "cannot be read"},
	} {
		t.Run(name, func(t *testing.T) {
			b, dir := bundle(t), t.TempDir()
			c.change(&b, map[string]any{"layers": []any{map[string]any{}, map[string]any{}}})
			layout, err := Layout(t.Context(), dir)
			if err != nil {
				t.Fatal(err)
			}
			d, err := Push(t.Context(), layout, b, "v1")
			if err != nil {
				t.Fatal(err)
			}
			rewrite(t, dir, d, func(m map[string]any) { c.change(&b, m) })
			from, err := Existing(t.Context(), dir)
			if err == nil {
				_, err = Pull(t.Context(), from, "v1")
			}
			if errs.CodeOf(err) != c.code || !strings.Contains(err.Error(), c.says) {
				t.Error(err)
			}
		})
	}
}

func layer(m map[string]any, i int) map[string]any { return m["layers"].([]any)[i].(map[string]any) }

// rewrite changes the manifest of a layout, and the index to name the changed one.
func rewrite(t *testing.T, dir string, d ids.Digest, change func(map[string]any)) {
	t.Helper()
	old, err := os.ReadFile(filepath.Join(dir, "blobs", "sha256", d.Hex()))
	if err != nil {
		t.Fatal(err)
	}
	var m map[string]any
	if err := json.Unmarshal(old, &m); err != nil {
		t.Fatal(err)
	}
	change(m)
	now, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	index, err := os.ReadFile(filepath.Join(dir, "index.json"))
	if err != nil {
		t.Fatal(err)
	}
	var x map[string]any
	if err := json.Unmarshal(index, &x); err != nil {
		t.Fatal(err)
	}
	entry := x["manifests"].([]any)[0].(map[string]any)
	entry["digest"], entry["size"] = string(ids.DigestOf(now)), len(now)
	if index, err = json.Marshal(x); err != nil {
		t.Fatal(err)
	}
	for path, b := range map[string][]byte{filepath.Join(dir, "blobs", "sha256", ids.DigestOf(now).Hex()): now, filepath.Join(dir, "index.json"): index} {
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// Training state moves from one home to another by its content: what arrives is what was
// named, or nothing.
func TestStateMoves(t *testing.T) {
	b, from, to, dir := bundle(t), t.TempDir(), t.TempDir(), t.TempDir()
	if _, err := Keep(t.Context(), from, b.State[0]); err != nil {
		t.Fatal(err)
	}
	if _, err := StateOf(from, "optimizer", ids.DigestOf(nil)); errs.CodeOf(err) != errs.NotFound {
		t.Errorf("what is not there: %v", err)
	}
	here, err := StateOf(from, "optimizer", b.State[0].Digest)
	if err != nil {
		t.Fatal(err)
	}
	b.State[0] = here
	layout, err := Layout(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Push(t.Context(), layout, b, "v1"); err != nil {
		t.Fatal(err)
	}
	blob := filepath.Join(dir, "blobs", "sha256", here.Digest.Hex())
	for _, content := range []string{"momenta", "moment", "moments and more", "moments"} {
		if err := overwrite(blob, []byte(content)); err != nil {
			t.Fatal(err)
		}
		source, err := Existing(t.Context(), dir)
		if err != nil {
			t.Fatal(err)
		}
		got, err := Pull(t.Context(), source, "v1")
		if err != nil {
			t.Fatal(err)
		}
		path, err := Keep(t.Context(), to, got.State[0])
		if (err == nil) != (content == "moments") {
			t.Errorf("%q: %v", content, err)
		}
		b, readErr := os.ReadFile(path)
		if err == nil && (readErr != nil || string(b) != content) || err != nil && readErr == nil {
			t.Errorf("%q: kept %q, %v", content, b, readErr)
		}
	}
}

// What is not there, and who does not answer, are told apart from what cannot be read.
func TestWhatIsNotThere(t *testing.T) {
	closed := httptest.NewServer(nil)
	host := strings.TrimPrefix(closed.URL, "http://")
	closed.Close()
	to, tag, err := Repository(Prefix+host+"/adapters:v1", Access{PlainHTTP: true})
	if err != nil {
		t.Fatal(err)
	}
	_, err = Push(t.Context(), to, bundle(t), tag)
	if e := errs.As(err); e == nil || e.Code != errs.UpstreamUnavailable || !strings.Contains(e.Message, "does not answer") || !strings.Contains(e.Message, "refused") {
		t.Errorf("nobody listens: %v", err)
	}
	path := filepath.Join(t.TempDir(), "none.tar")
	if _, err := Existing(t.Context(), path); errs.CodeOf(err) != errs.NotFound || !strings.Contains(err.Error(), "there is no "+path) {
		t.Errorf("no file: %v", err)
	}
}

// A tag that no other program could name is refused.
func TestTags(t *testing.T) {
	for _, tag := range []string{"", "../../x", "-v1", "a b", "v1:2", strings.Repeat("v", 129)} {
		layout, err := Layout(t.Context(), t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Push(t.Context(), layout, bundle(t), tag); errs.CodeOf(err) != errs.InvalidRequest {
			t.Errorf("%q: %v", tag, err)
		}
	}
}
