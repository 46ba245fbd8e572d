package registry

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"macaron/internal/adapter"
	"macaron/internal/contract"
	"macaron/internal/contract/sign"
	"macaron/internal/engine/enginetest"
	"macaron/internal/engine/lora"
	"macaron/internal/errs"
	"macaron/internal/ids"
)

const head = `schema = "macaron.hcp/1"
name = "test"
version = "1" # a comment that stays

[model]
base = "tiny"

[prompts]
system = "S {{specialist}}"
route = """
[[adapters]]
{{adapters}}"""
summary = "sum"
foreign = "[{{summary}}]"
tools = "{{tools}}"

[router]
adapter = "L0"
default = "L0"
order = [ "L1", 'L0' ]
request_chars = 100

[budgets]
route_tokens = 24
summary_tokens = 192
answer_tokens = 512
`

// rig is a home, and a contract with the adapters L0 (a directory) and L1 (an upstream's).
type rig struct {
	t                   *testing.T
	home, contract, dir string
}

func newRig(t *testing.T) *rig {
	t.Helper()
	r := &rig{t: t, home: t.TempDir(), dir: t.TempDir()}
	r.contract = filepath.Join(r.dir, "macaron.toml")
	r.adapter("L0", 1)
	r.write(head + block0 + block1)
	return r
}

const (
	block0 = "\n[[adapters]]\nname = \"L0\"\nsource = \"L0\"\ndescription = \"talk\"\n"
	block1 = "\n# the other one\n[[adapters]]\nname = 'L1'\nsource = \"model:other\"\ndescription = \"code\"\n"
)

func (r *rig) write(text string) {
	r.t.Helper()
	if err := os.WriteFile(r.contract, []byte(text), 0o644); err != nil {
		r.t.Fatal(err)
	}
}

func (r *rig) text() string {
	r.t.Helper()
	b, err := os.ReadFile(r.contract)
	if err != nil {
		r.t.Fatal(err)
	}
	return string(b)
}

// adapter puts a random adapter into a directory beside the contract.
func (r *rig) adapter(name string, seed uint64) string {
	r.t.Helper()
	to := filepath.Join(r.dir, name)
	if err := os.RemoveAll(to); err != nil {
		r.t.Fatal(err)
	}
	if err := os.CopyFS(to, os.DirFS(enginetest.Adapter(r.t, seed))); err != nil {
		r.t.Fatal(err)
	}
	return to
}

func (r *rig) open(report func(error)) *Registry {
	r.t.Helper()
	reg, err := Open(r.home, r.contract, Options{Report: report})
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() {
		if err := reg.Close(); err != nil {
			r.t.Error(err)
		}
	})
	return reg
}

func (r *rig) entries(reg *Registry) []Entry {
	r.t.Helper()
	list, err := reg.Adapters(context.Background(), "local")
	if err != nil {
		r.t.Fatal(err)
	}
	return list
}

func TestOpenKeepsRevisionsByContent(t *testing.T) {
	r := newRig(t)
	reg := r.open(nil)
	list := r.entries(reg)
	if len(list) != 2 || list[0].Name != "L0" || list[0].Description != "talk" || list[1].Source != "model:other" {
		t.Fatalf("got %+v", list)
	}
	dir, err := reg.Dir(list[0].Revision)
	if err != nil {
		t.Fatal(err)
	}
	again, err := lora.Inspect(dir)
	if err != nil || again.Hash != list[0].Hash || filepath.Base(dir) != again.Hash.Hex() {
		t.Errorf("%s holds %s (%v), want %s", dir, again.Hash, err, list[0].Hash)
	}
	if list[0].Bytes == 0 || list[0].Params == 0 {
		t.Errorf("no sizes: %+v", list[0].Revision)
	}
	if _, err := reg.Dir(list[1].Revision); errs.CodeOf(err) != errs.Unsupported {
		t.Errorf("an upstream's adapter has a directory: %v", err)
	}
	if _, err := reg.Dir(adapter.Revision{Hash: "sha256:../../../etc"}); errs.CodeOf(err) != errs.InvalidRequest {
		t.Errorf("a path passes for a digest: %v", err)
	}
	if _, err := reg.Dir(adapter.Revision{Hash: ids.DigestOf(nil)}); errs.CodeOf(err) != errs.AdapterNotFound {
		t.Errorf("got %v", err)
	}
}

func TestChangesAreTakenUpAndOldRevisionsStay(t *testing.T) {
	r := newRig(t)
	reg := r.open(nil)
	before, err := reg.Current(context.Background(), "local")
	if err != nil {
		t.Fatal(err)
	}
	old := before.Adapters[0]
	r.adapter("L0", 2)
	r.write(strings.Replace(head, `"L1", `, "", 1) + block0)
	now := r.entries(reg)
	if len(now) != 1 || now[0].Hash == old.Hash {
		t.Fatalf("the change was not seen: %+v", now)
	}
	if _, err := reg.Dir(old.Revision); err != nil {
		t.Errorf("a turn pinned to the old revision cannot go on: %v", err)
	}
	for _, registry := range []*Registry{reg, r.open(nil)} { // also after a restart
		k, err := registry.Contract(before.Contract.Hash())
		if err != nil || len(k.Adapters) != 2 {
			t.Errorf("the old contract is lost: %v", err)
		}
	}
}

func TestBadChangeLeavesTheOldInForce(t *testing.T) {
	r := newRig(t)
	var told []error
	reg := r.open(func(err error) { told = append(told, err) })
	r.write(head + block0 + block1 + "colour = 1\n")
	for range 3 {
		if list := r.entries(reg); len(list) != 2 {
			t.Fatalf("got %+v", list)
		}
	}
	if len(told) != 1 || errs.CodeOf(reg.Problem()) != errs.FormatInvalid {
		t.Errorf("told %v, problem %v", told, reg.Problem())
	}
	r.write(head + block0 + "\n[[adapters]]\nname = \"L2\"\nsource = \"L2\"\ndescription = \"d\"\n" + block1)
	if list := r.entries(reg); len(list) != 2 || errs.CodeOf(reg.Problem()) != errs.NotFound {
		t.Fatalf("%+v %v", list, reg.Problem())
	}
	r.adapter("L2", 3) // only the directory that was missing appears
	if list := r.entries(reg); len(list) != 3 || reg.Problem() != nil {
		t.Errorf("%+v %v", list, reg.Problem())
	}
}

func TestAddAndRemoveWhileServing(t *testing.T) {
	r := newRig(t)
	reg := r.open(nil)
	before := r.text()
	dir := r.adapter("new", 9)
	rev, err := Add(r.home, r.contract, dir, Addition{Adapter: contract.Adapter{Name: "L4", Description: `says "hi"`}, Before: "L1"})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(dir); err != nil { // the copy in the store is what counts
		t.Fatal(err)
	}
	list := r.entries(reg)
	if len(list) != 3 || list[2].Hash != rev.Hash || list[2].Description != `says "hi"` {
		t.Fatalf("got %+v", list)
	}
	if _, err := reg.Dir(list[2].Revision); err != nil {
		t.Error(err)
	}
	if gone, err := Remove(r.contract, "L4"); err != nil || gone.Name != "L4" {
		t.Fatalf("%+v %v", gone, err)
	}
	if r.text() != before {
		t.Errorf("the file is not what it was:\n%s", r.text())
	}
	if len(r.entries(reg)) != 2 {
		t.Error("the removal was not seen")
	}
}

func TestOpenRefuses(t *testing.T) {
	for name, tc := range map[string]struct {
		spoil func(*rig)
		code  errs.Code
	}{
		"no contract": {func(r *rig) { r.contract += ".absent" }, errs.NotFound},
		"no adapter": {func(r *rig) {
			r.write(head + "\n[[adapters]]\nname = \"L0\"\nsource = \"nowhere\"\ndescription = \"d\"\n" + block1)
		}, errs.NotFound},
		"no revision": {func(r *rig) {
			r.write(head + fmt.Sprintf("\n[[adapters]]\nname = \"L0\"\nsource = %q\ndescription = \"d\"\n", ids.DigestOf(nil)) + block1)
		}, errs.AdapterNotFound},
		"no digest": {func(r *rig) {
			r.write(head + "\n[[adapters]]\nname = \"L0\"\nsource = \"sha256:../x\"\ndescription = \"d\"\n" + block1)
		}, errs.InvalidRequest},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			tc.spoil(r)
			_, err := Open(r.home, r.contract, Options{})
			if e := errs.As(err); e == nil || e.Code != tc.code || e.Next == "" {
				t.Errorf("got %+v", e)
			}
		})
	}
}

func TestStoredRevisionThatChangedIsRefused(t *testing.T) {
	r := newRig(t)
	rev, err := Add(r.home, r.contract, r.adapter("new", 4), Addition{Adapter: contract.Adapter{Name: "L4", Description: "d"}})
	if err != nil {
		t.Fatal(err)
	}
	stored := filepath.Join(r.home, "blobs", "revisions", rev.Hash.Hex())
	if err := os.RemoveAll(stored); err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(stored, os.DirFS(r.adapter("new", 5))); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(r.home, r.contract, Options{}); errs.CodeOf(err) != errs.ChecksumMismatch {
		t.Errorf("got %v", err)
	}
}

// TestOneFileIsNoSource: an adapter in one file is read by the engine, not kept here.
func TestOneFileIsNoSource(t *testing.T) {
	s, err := openStore(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	err = s.put(ids.DigestOf(nil), filepath.Join("..", "engine", "testdata", "tiny", "a.gguf"))
	if errs.CodeOf(err) != errs.Unsupported {
		t.Error(err)
	}
}

// Adapters of the contract's own file can be added and removed though it imports others;
// those of an imported one are the business of whoever edits that.
func TestAddAndRemoveBesideImports(t *testing.T) {
	r := newRig(t)
	v2 := strings.NewReplacer("macaron.hcp/1", "macaron.hcp/2", `version = "1"`, "version = \"1.0.0\"\nimports = [\"more.toml\"]").Replace(head)
	if err := os.WriteFile(filepath.Join(r.dir, "more.toml"), []byte("schema = \"macaron.hcp/2\"\n"+block1), 0o600); err != nil {
		t.Fatal(err)
	}
	r.write(v2 + block0)
	before := r.text()
	if _, err := Add(r.home, r.contract, r.adapter("new", 9), Addition{Adapter: contract.Adapter{Name: "L4", Description: "d"}}); err != nil {
		t.Fatal(err)
	}
	if k, err := contract.Load(r.contract); err != nil || len(k.Adapters) != 3 {
		t.Fatalf("%v", err)
	}
	if _, err := Remove(r.contract, "L1"); errs.CodeOf(err) != errs.Unsupported || !strings.Contains(errs.As(err).Next, "imports") {
		t.Errorf("one of an imported file: %v", err)
	}
	if _, err := Remove(r.contract, "L4"); err != nil || r.text() != before {
		t.Errorf("%v\n%s", err, r.text())
	}
}

// A change of an imported file is taken up, and what was in force is kept as one file.
func TestImportsAreWatched(t *testing.T) {
	r := newRig(t)
	v2 := strings.NewReplacer("macaron.hcp/1", "macaron.hcp/2", `version = "1"`, "version = \"1.0.0\"\nimports = [\"more.toml\"]").Replace(head)
	more := filepath.Join(r.dir, "more.toml")
	put := func(text string) {
		t.Helper()
		if err := os.WriteFile(more, []byte("schema = \"macaron.hcp/2\"\n[sampling]\n"+text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	put("top_k = 7")
	r.write(v2 + block0 + block1)
	reg := r.open(nil)
	was, err := reg.Current(t.Context(), "local")
	if err != nil || *was.Contract.Sampling.TopK != 7 {
		t.Fatalf("%+v %v", was.Contract.Sampling, err)
	}
	put("top_k = 12345")
	now, err := reg.Current(t.Context(), "local")
	if err != nil || *now.Contract.Sampling.TopK != 12345 {
		t.Fatalf("%+v %v", now.Contract.Sampling, err)
	}
	if err := os.Remove(more); err != nil {
		t.Fatal(err)
	}
	kept, err := reg.store.contract(was.Contract.Hash())
	if err != nil || *kept.Sampling.TopK != 7 {
		t.Errorf("%v", err)
	}
}

// Where a signature is demanded, a change without one leaves the old contract in force.
func TestOnlySignedContractsAreTaken(t *testing.T) {
	r := newRig(t)
	key := filepath.Join(t.TempDir(), "key")
	public, err := sign.NewKey(key, rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	private, err := sign.Private(key)
	if err != nil {
		t.Fatal(err)
	}
	trust := Options{Trust: sign.Trust{Required: true, Keys: []ed25519.PublicKey{public}}.Check}
	if _, err := Open(r.home, r.contract, trust); errs.CodeOf(err) != errs.NotFound {
		t.Fatalf("unsigned: %v", err)
	}
	put := func() {
		t.Helper()
		s, err := contract.Open(r.contract)
		if err != nil {
			t.Fatal(err)
		}
		envelope, err := sign.Sign(s, private, nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(r.contract+sign.Suffix, envelope, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	put()
	reg, err := Open(r.home, r.contract, trust)
	if err != nil {
		t.Fatal(err)
	}
	defer reg.Close()
	was := reg.now.Contract.Hash()
	r.write(r.text() + "# one comment more\n")
	if now, err := reg.Current(t.Context(), "local"); err != nil || now.Contract.Hash() != was || errs.CodeOf(reg.Problem()) != errs.ChecksumMismatch {
		t.Errorf("%v; %v", err, reg.Problem())
	}
	r.write(strings.Replace(r.text(), "request_chars = 100", "request_chars = 101", 1))
	put()
	if now, err := reg.Current(t.Context(), "local"); err != nil || now.Contract.Hash() == was || reg.Problem() != nil {
		t.Errorf("signed: %v; %v", err, reg.Problem())
	}
}
