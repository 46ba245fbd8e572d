package tidy

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/format"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
)

const root = "../.."

var parsed = sync.OnceValues(func() ([]File, error) { return Load(root) })

func load(t *testing.T) []File {
	t.Helper()
	files, err := parsed()
	if err != nil {
		t.Fatal(err)
	}
	if len(files) < 100 {
		t.Fatalf("only %d files below %s", len(files), root)
	}
	return files
}

func TestEveryPackageSaysWhatItIs(t *testing.T) {
	documented := map[string]bool{}
	for _, f := range load(t) {
		if f.Test {
			continue
		}
		doc := f.AST.Doc.Text()
		lead := "Package " + f.AST.Name.Name + " "
		if f.AST.Name.Name == "main" {
			lead = "Command "
		}
		documented[f.Dir] = documented[f.Dir] || strings.HasPrefix(doc, lead)
	}
	for dir, ok := range documented {
		if !ok {
			t.Errorf("%s has no package comment that begins with \"Package NAME\" (\"Command\" for main)", dir)
		}
	}
}

func TestImportsGoOneWay(t *testing.T) {
	files := load(t)
	for _, r := range Rules {
		for _, bad := range r.Check(files) {
			t.Error(bad)
		}
	}
}

// A rule that names a package which is not there guards nothing.
func TestRulesNameWhatExists(t *testing.T) {
	dirs := map[string]bool{}
	for _, f := range load(t) {
		for d := f.Dir; d != "."; d = path.Dir(d) {
			dirs[d] = true
		}
	}
	for _, r := range Rules {
		for _, d := range slices.Concat(r.From, r.Except) {
			if !dirs[d] {
				t.Errorf("the rule %q names %s, which is not there", r.Why, d)
			}
		}
		if r.Why == "" {
			t.Errorf("a rule against %v has no reason", r.Not)
		}
	}
}

// longFiles may have more than 400 lines, for the reason given.
var longFiles = map[string]string{}

func TestFilesHaveOneIdea(t *testing.T) {
	const limit = 400
	seen := map[string]bool{}
	for _, f := range load(t) {
		seen[f.Path] = f.Lines > limit
		if f.Lines > limit && longFiles[f.Path] == "" {
			t.Errorf("%s has %d lines, more than %d: split it by idea, or give the reason in longFiles", f.Path, f.Lines, limit)
		}
	}
	for p := range longFiles {
		if !seen[p] {
			t.Errorf("%s is in longFiles and need not be", p)
		}
	}
}

// longFunctions may have more than 70 lines, for the reason given.
var longFunctions = map[string]string{}

func TestFunctionsFitAScreen(t *testing.T) {
	const limit = 70
	seen := map[string]bool{}
	for _, f := range load(t) {
		for _, d := range f.AST.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok {
				continue
			}
			name := f.Dir + "." + fn.Name.Name
			lines := f.Set.Position(fn.End()).Line - f.Set.Position(fn.Pos()).Line + 1
			seen[name] = seen[name] || lines > limit
			if lines > limit && longFunctions[name] == "" {
				t.Errorf("%s: %s has %d lines, more than %d: split it, or give the reason in longFunctions", f.Path, name, lines, limit)
			}
		}
	}
	for name := range longFunctions {
		if !seen[name] {
			t.Errorf("%s is in longFunctions and need not be", name)
		}
	}
}

var emptyNames = []string{"util", "utils", "common", "types", "helpers", "helper", "manager", "misc", "base", "shared", "lib"}

func TestPackagesAreNamedForWhatTheyHold(t *testing.T) {
	for _, f := range load(t) {
		if name := strings.TrimSuffix(f.AST.Name.Name, "_test"); slices.Contains(emptyNames, name) {
			t.Errorf("%s: the package name %s says nothing", f.Path, name)
		}
		if name := strings.TrimSuffix(path.Base(f.Path), ".go"); slices.Contains(emptyNames, name) {
			t.Errorf("%s: the file name says nothing", f.Path)
		}
	}
}

// environment are the places that read the environment, besides config and tests.
var environment = map[string]string{
	"internal/testvectors/testvectors.go":    "used by tests only: MACARON_TESTDATA says where their data lie",
	"internal/testvectors/fetch/download.go": "hands the environment on to pip, with one variable more",
	"internal/tidy/tally/main.go":            "part of make test: ALLOW_SKIP",
	"internal/disk/disktest/filter_linux.go": "used by tests only: starts the program that they watch, with their environment",
	"internal/disk/disktest/watch_linux.go":  "so here",
}

func TestOnlyConfigReadsTheEnvironment(t *testing.T) {
	reads := map[string]bool{}
	for _, f := range load(t) {
		if f.Test || Within(f.Dir, "internal/config") {
			continue
		}
		ast.Inspect(f.AST, func(n ast.Node) bool {
			s, ok := n.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			x, ok := s.X.(*ast.Ident)
			if ok && x.Name == "os" && slices.Contains([]string{"Getenv", "LookupEnv", "Environ", "Setenv", "Unsetenv", "ExpandEnv"}, s.Sel.Name) {
				reads[f.Path] = true
				if environment[f.Path] == "" {
					t.Errorf("%s: os.%s: settings come from internal/config", f.Set.Position(s.Pos()), s.Sel.Name)
				}
			}
			return true
		})
	}
	for p := range environment {
		if !reads[p] {
			t.Errorf("%s is in environment and need not be", p)
		}
	}
}

func TestNoTestSkipsItself(t *testing.T) {
	for _, f := range load(t) {
		ast.Inspect(f.AST, func(n ast.Node) bool {
			s, ok := n.(*ast.SelectorExpr)
			if ok && f.Test && slices.Contains([]string{"Skip", "Skipf", "SkipNow"}, s.Sel.Name) {
				if x, ok := s.X.(*ast.Ident); ok && (x.Name == "t" || x.Name == "b" || x.Name == "tb") {
					t.Errorf("%s: a test that cannot run fails and says what is missing", f.Set.Position(s.Pos()))
				}
			}
			return true
		})
	}
}

func TestSourceIsFormatted(t *testing.T) {
	for _, f := range load(t) {
		want, err := format.Source(f.Text)
		if err != nil {
			t.Errorf("%s: %v", f.Path, err)
		} else if !bytes.Equal(want, f.Text) {
			t.Errorf("%s is not formatted: gofmt -w %s", f.Path, f.Path)
		}
	}
}

// texts are the endings of files that people read.
var texts = []string{".go", ".s", ".md", ".py", ".sh", ".toml", ".txt", ".html", ".css", ".js", ".sql", ".yml", ".yaml", ".json", "Makefile"}

var (
	// A directory that only exists on the machine of whoever wrote the line.
	machine = regexp.MustCompile(`(?:^|[\s"'` + "`" + `=(:])/(?:root|home/[a-z]\w*|Users/[A-Za-z]\w*|work|workspace|mnt)/`)
	// What is left to do belongs into the issue tracker, with a reason.
	todo = regexp.MustCompile(`\b(TODO|FIXME|XXX|HACK)\b`)
)

// tracked lists the files that belong to the project: what git knows, and what is new
// and not ignored; without git, every file.
func tracked(t *testing.T) []string {
	t.Helper()
	var all []string
	if out, err := exec.Command("git", "-C", root, "ls-files", "-co", "--exclude-standard").Output(); err == nil {
		all = strings.Fields(string(out))
	} else if err := Walk(root, func(rel string) error { all = append(all, rel); return nil }); err != nil {
		t.Fatal(err)
	}
	return slices.DeleteFunc(all, func(p string) bool {
		return !slices.ContainsFunc(texts, func(end string) bool { return strings.HasSuffix(p, end) })
	})
}

func TestTextsSpeakOfTheProjectAlone(t *testing.T) {
	for _, p := range tracked(t) {
		if p == "internal/tidy/rules_test.go" || strings.Contains(p, "/data/") || strings.Contains(p, "testdata/") {
			continue // the rules themselves; sentences for training and tests
		}
		b, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(p)))
		if os.IsNotExist(err) {
			continue // deleted, and not yet committed
		}
		if err != nil {
			t.Fatal(err)
		}
		for i, line := range strings.Split(string(b), "\n") {
			if m := machine.FindString(line); m != "" {
				t.Errorf("%s:%d: %q is a path of one machine", p, i+1, m)
			}
			if m := todo.FindString(line); m != "" {
				t.Errorf("%s:%d: %s: finish it, or describe it where work is planned", p, i+1, m)
			}
		}
	}
}

// What was recorded of real servers is replayed everywhere, and tells nothing of where it was
// recorded.
func TestRecordingsTellOfNoMachine(t *testing.T) {
	n := 0
	for _, p := range tracked(t) {
		if !strings.Contains(p, "testdata/exchanges/") {
			continue
		}
		n++
		if m := machine.FindString(text(t, p)); m != "" {
			t.Errorf("%s: %q is a path of one machine: record it again, upstreamtest.Recorder leaves such paths out", p, m)
		}
	}
	if n < 3 {
		t.Errorf("only %d recordings were found", n)
	}
}

func TestRulesFindWhatTheyForbid(t *testing.T) {
	for rel, text := range map[string]string{
		"internal/turn/x.go":          `import "macaron/internal/app"`,
		"internal/web/x.go":           `import "macaron/internal/wire/openai"`,
		"internal/engine/model/x.go":  `import "macaron/internal/session"`,
		"internal/session/x.go":       `import "database/sql"`,
		"internal/ownview/x.go":       `import "os"`,
		"internal/web/x_test.go":      `import "github.com/chromedp/chromedp"`,
		"internal/engine/token/x.go":  `import "unsafe"`,
		"internal/chat/x.go":          `import "macaron/internal/backend"`,
		"internal/models/x.go":        `import "github.com/prometheus/client_golang/prometheus"`,
		"internal/registry/x_test.go": `import "github.com/stretchr/testify/assert"`,
	} {
		f, err := Parse(rel, []byte("package x\n"+text+"\n"))
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for _, r := range Rules {
			n += len(r.Check([]File{f}))
		}
		if n == 0 {
			t.Errorf("%s may %s", rel, text)
		}
	}
	for line, bad := range map[string]bool{
		fmt.Sprintf("see %s/x", "/root"): true, "dir=/home/ann/x": true, "https://example.org/work/x": false, "/workflow": false, "/tmp/x": false,
	} {
		if machine.MatchString(line) != bad {
			t.Errorf("%q: machine path %v, want %v", line, !bad, bad)
		}
	}
}
