package contract

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"macaron/internal/errs"
	"macaron/internal/ui4a/library"
)

// write makes the files of a contract; the main one is macaron.toml.
func write(t testing.TB, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		p := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(p), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Join(dir, "macaron.toml")
}

// parts is full.toml cut into files: what they give together must be the whole.
func parts(t testing.TB) map[string]string {
	text := full(t)
	cut := func(from, to string) string {
		i, j := strings.Index(text, from), strings.Index(text, to)
		part := text[i:j]
		text = text[:i] + text[j:]
		return part
	}
	schema := "schema = \"macaron.hcp/2\"\n"
	tools := cut("[[mcp]]", "[policies]")
	agent := cut("[runtime]", "[policies]")
	agent = strings.Replace(agent, "max_turns = 12", "max_turns = 99", 1) // the importing file says 12
	agent = strings.Replace(agent, "Known:", "Old:", 1)
	sandbox := text[strings.Index(text, "[sandbox]"):]
	text = strings.Replace(text, sandbox, "", 1)
	text = strings.Replace(text, `text = "Use pipes."`, `file = "skills/tables.md"`, 1)
	text = strings.Replace(text, `python = "assert answer"`, `file = "answered.py"`, 1)
	text = strings.Replace(text, "[model]", "imports = [\"lib/agent.toml\", \"lib/sandbox.toml\"]\n\n[model]", 1)
	text += "\n[agent]\nmax_turns = 12\nprompts.memory = \"Known:\\n{{items}}\"\n[overlays.fast.agent]\nmax_turns = 3\n[[overlays.fast.tools]]\nname = \"weather\"\nretries = 0\n[[overlays.fast.tools]]\nname = \"more\"\nuse = \"builtin:more\"\n"
	return map[string]string{
		"macaron.toml":       text,
		"lib/agent.toml":     schema + "name = \"lib\"\nversion = \"9.9.9\"\nimports = [\"tools/all.toml\"]\n" + agent,
		"lib/tools/all.toml": schema + tools,
		"lib/sandbox.toml":   schema + sandbox,
		"skills/tables.md":   "Use pipes.",
		"answered.py":        "assert answer",
	}
}

func TestImportsGiveWhatTheWholeGives(t *testing.T) {
	whole := parse(t, full(t))
	s, err := Open(write(t, parts(t)))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := string(s.Contract.Canonical()), string(whole.Canonical()); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if len(s.Files) != 6 || s.Files[0].Path != "macaron.toml" || fmt.Sprint(s.Overlays) != "[fast]" {
		t.Errorf("%d files, overlays %q", len(s.Files), s.Overlays)
	}
	for path, want := range map[string]string{"agent.max_turns": "macaron.toml: line", "agent.max_tokens": "lib/agent.toml: line", "tools[1].http.url": "lib/tools/all.toml: line", "sandbox.pids": "lib/sandbox.toml: line"} {
		if at := filepath.ToSlash(s.tree.find(path).String()); !strings.Contains(at, want) {
			t.Errorf("%s is from %s, not %s", path, at, want)
		}
	}
}

func TestOverlays(t *testing.T) {
	files := parts(t)
	path := write(t, files)
	plain, err := Load(path)
	if err != nil {
		t.Fatal(err)
	}
	fast, err := Load(path, "fast")
	if err != nil {
		t.Fatal(err)
	}
	w, _ := fast.Tool("weather")
	if _, more := fast.Tool("more"); fast.Agent.MaxTurns != 3 || w.Retries != 0 || w.HTTP.URL == "" || !more || fast.Hash() == plain.Hash() || plain.Agent.MaxTurns != 12 {
		t.Errorf("%s", fast.Canonical())
	}
	if _, err := Load(path, "slow"); errs.CodeOf(err) != errs.InvalidRequest || !strings.Contains(errs.As(err).Next, "fast") {
		t.Errorf("%v", err)
	}
	for bad, want := range map[string]string{"schema = \"macaron.hcp/1\"": "an overlay cannot change schema", "imports = [\"x\"]": `unknown key "overlays.fast.imports"`, "zip = 1": `unknown key "overlays.fast.zip"`, "agent.max_turns = 0": "overlays.fast.agent.max_turns is 0"} {
		f := maps.Clone(files)
		f["macaron.toml"] = strings.Replace(f["macaron.toml"], "[overlays.fast.agent]\nmax_turns = 3\n", "[overlays.fast]\n"+bad+"\n", 1)
		if _, err := Load(write(t, f)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", bad, err)
		}
	}
}

func TestImportsAreRefused(t *testing.T) {
	schema := "schema = \"macaron.hcp/2\"\n"
	chain := map[string]string{}
	for i := range MaxImports + 1 {
		chain[fmt.Sprintf("c%d.toml", i)] = fmt.Sprintf("%simports = [\"c%d.toml\"]\n", schema, i+1)
	}
	for name, c := range map[string]struct {
		imported string
		files    map[string]string
		want     string
	}{
		"itself":    {"macaron.toml", nil, "a cycle: macaron.toml imports macaron.toml"},
		"cycle":     {"a.toml", map[string]string{"a.toml": schema + `imports = ["d/b.toml"]`, "d/b.toml": schema + `imports = ["../macaron.toml"]`}, "a cycle: macaron.toml imports a.toml imports d/b.toml imports macaron.toml"},
		"deep":      {"c0.toml", chain, "imports nest deeper than 8"},
		"absent":    {"none.toml", nil, "none.toml cannot be read as a file"},
		"above":     {"../x.toml", nil, "does not lie below the directory"},
		"absolute":  {"/etc/passwd", nil, "does not lie below the directory"},
		"tricky":    {"a/../../x.toml", nil, "does not lie below the directory"},
		"directory": {"d", map[string]string{"d/x": ""}, "no regular file"},
		"inside":    {"a.toml", map[string]string{"a.toml": schema + "[agent]\nmax_turns = -1"}, "a.toml: line 3, column 1: agent.max_turns is -1"},
		"unknown":   {"a.toml", map[string]string{"a.toml": schema + "\n[agent]\nx = -1"}, "a.toml: line 4, column 1: unknown key \"agent.x\""},
		"old":       {"a.toml", map[string]string{"a.toml": "schema = \"macaron.hcp/1\""}, "has another schema"},
		"merged":    {"a.toml", map[string]string{"a.toml": schema + "[router]\nadapter = \"L7\""}, "router.adapter is \"L7\""},
		"large":     {"a.toml", map[string]string{"a.toml": strings.Repeat("#", MaxBytes+1)}, "is too much"},
		"many":      {"a.toml", many(schema), "at most 64 files"},
	} {
		files := map[string]string{}
		maps.Copy(files, c.files)
		files["macaron.toml"] = strings.Replace(full(t), "parents", fmt.Sprintf("imports = [%q]\nparents", c.imported), 1)
		if name == "merged" {
			files["macaron.toml"] = strings.Replace(files["macaron.toml"], "adapter = \"L0\"\n", "", 1)
		}
		_, err := Load(write(t, files))
		if err == nil || !strings.Contains(filepath.ToSlash(err.Error()), c.want) {
			t.Errorf("%s: %v", name, err)
		}
		if name == "inside" && (err == nil || !strings.Contains(err.Error(), "macaron.toml: line 4, column 12: ")) {
			t.Errorf("the import is not told: %v", err)
		}
	}
}

func many(schema string) map[string]string {
	files := map[string]string{"a.toml": schema + "imports = ["}
	for i := range 4 {
		inner := schema + "imports = ["
		for j := range 30 {
			files[fmt.Sprintf("f%d_%d.toml", i, j)] = schema
			inner += fmt.Sprintf("\"f%d_%d.toml\",", i, j)
		}
		files[fmt.Sprintf("g%d.toml", i)] = inner + "]"
		files["a.toml"] += fmt.Sprintf("\"g%d.toml\",", i)
	}
	files["a.toml"] += "]"
	return files
}

// A symbolic link that leads out is not followed.
func TestLinksDoNotLeadOut(t *testing.T) {
	secret := filepath.Join(t.TempDir(), "secret.md")
	if err := os.WriteFile(secret, []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	path := write(t, map[string]string{"macaron.toml": strings.Replace(full(t), `text = "Use pipes."`, `file = "s.md"`, 1)})
	if err := os.Symlink(secret, filepath.Join(filepath.Dir(path), "s.md")); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(path); errs.CodeOf(err) != errs.NotFound || strings.Contains(err.Error(), "secret\"") {
		t.Errorf("%v", err)
	}
}

// The content of a named file is part of the name; where it lies is not.
func TestFilesCountByContent(t *testing.T) {
	files := parts(t)
	a, err := Load(write(t, files))
	if err != nil {
		t.Fatal(err)
	}
	moved := maps.Clone(files)
	moved["macaron.toml"] = strings.Replace(files["macaron.toml"], "skills/tables.md", "t.md", 1)
	moved["t.md"] = files["skills/tables.md"]
	b, err := Load(write(t, moved))
	if err != nil || a.Hash() != b.Hash() {
		t.Errorf("%v %v", a.Hash(), err)
	}
	moved["t.md"] += "!"
	if c, err := Load(write(t, moved)); err != nil || a.Hash() == c.Hash() {
		t.Errorf("a changed file gives the same name: %v", err)
	}
}

// What names a contract is its own: an import gives none of it, whether the importing file
// has it or not.
func TestImportsGiveNoName(t *testing.T) {
	for _, key := range []string{"name", "version", "parents"} {
		var alone string
		for line := range strings.Lines(full(t)) {
			if !strings.HasPrefix(line, key+" ") {
				alone += line
			}
		}
		lib := "schema = \"macaron.hcp/2\"\nname = \"lib\"\nversion = \"9.9.9\"\nparents = [\"sha256:" + strings.Repeat("7", 64) + "\"]\n"
		with := strings.Replace(alone, "[model]", "imports = [\"lib.toml\"]\n[model]", 1)
		want, wantErr := Load(write(t, map[string]string{"macaron.toml": alone}))
		got, err := Load(write(t, map[string]string{"macaron.toml": with, "lib.toml": lib}))
		switch {
		case (err == nil) != (wantErr == nil):
			t.Errorf("%s: %v, without the import %v", key, err, wantErr)
		case err == nil && string(got.Canonical()) != string(want.Canonical()):
			t.Errorf("%s: the import gave it\n%s", key, got.Canonical())
		}
	}
}

// Only a path is relative to the file that it stands in.
func TestSourcesOfImportedAdapters(t *testing.T) {
	for source, want := range map[string]string{"adapters/a": "lib/adapters/a", "../a": "a", "/abs/a": "/abs/a", "model:tiny": "model:tiny", "sha256:" + strings.Repeat("1", 64): "sha256:" + strings.Repeat("1", 64)} {
		n := []*node{{table: map[string]*node{"source": {value: source}}}, {table: map[string]*node{}}}
		if sources("lib", n); n[0].table["source"].value != want {
			t.Errorf("%s became %v", source, n[0].table["source"].value)
		}
		n[0].table["source"].value = source
		if sources(".", n); n[0].table["source"].value != source {
			t.Errorf("%s beside the contract became %v", source, n[0].table["source"].value)
		}
	}
}

// The bounds of files, of each and of all together, are the last that is taken.
func TestFilesAreBounded(t *testing.T) {
	r := &reader{}
	for n := 0; n < MaxTotal; n += MaxBytes {
		if err := r.take("x", make([]byte, min(MaxBytes, MaxTotal-n))); err != nil {
			t.Fatal(n, err)
		}
	}
	if err := r.take("x", []byte{0}); errs.CodeOf(err) != errs.TooLarge {
		t.Errorf("%d bytes in all were taken: %v", r.total, err)
	}
	if err := (&reader{}).take("x", make([]byte, MaxBytes+1)); errs.CodeOf(err) != errs.TooLarge {
		t.Errorf("a file of one byte more was taken: %v", err)
	}
	r = &reader{}
	for n := range MaxFiles + 1 {
		if err := r.take("x", nil); (err != nil) != (n == MaxFiles) {
			t.Errorf("file %d: %v", n+1, err)
		}
	}
}

// What a build knows of cards is part of the contract's name, and of the text that is kept.
func TestCardsAreTaught(t *testing.T) {
	text := strings.Replace(fixture(t), "\nprompt = \"", "\nprompt = \"Show it. {{ui4a}} ", 1)
	if text == fixture(t) {
		t.Fatal("the fixture has no prompt of an adapter")
	}
	s, err := Open(write(t, map[string]string{"macaron.toml": text}))
	if err != nil {
		t.Fatal(err)
	}
	c := s.Contract
	taught := c.Adapters[0].Prompt
	if !strings.HasPrefix(taught, "Show it. "+library.Prompt()) || strings.Contains(taught, cards) {
		t.Errorf("the prompt is %q", taught)
	}
	if system := c.AnswerSystem(c.Adapters[0].Name, nil); !strings.Contains(system, library.Prompt()) {
		t.Errorf("the system text is %q", system)
	}
	whole, err := c.Text()
	if err != nil {
		t.Fatal(err)
	}
	if again := parse(t, string(whole)); again.Hash() != c.Hash() || s.Alone() {
		t.Errorf("written out it is %s, not %s; alone: %v", again.Hash(), c.Hash(), s.Alone())
	}
	plain, err := Open(write(t, map[string]string{"macaron.toml": fixture(t)}))
	if err != nil || !plain.Alone() || plain.Contract.Hash() == c.Hash() {
		t.Errorf("without it: %v", err)
	}
}
