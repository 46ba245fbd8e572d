package auth

import (
	"context"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"macaron/internal/clock"
	"macaron/internal/errs"
	"macaron/internal/ids"
	"macaron/internal/limits"
)

type rig struct {
	t     *testing.T
	home  string
	clock *clock.Fixed
	*Manager
	warned []error
}

func newRig(t *testing.T) *rig {
	t.Helper()
	r := &rig{t: t, home: t.TempDir(), clock: &clock.Fixed{T: time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)}}
	r.Manager = &Manager{Store: OpenFile(r.home), IDs: ids.NewSource(r.clock, nil), Now: r.clock.Now}
	return r
}

func (r *rig) ring() *Keyring {
	r.t.Helper()
	k, err := NewKeyring(r.t.Context(), OpenFile(r.home), r.clock, nil, func(err error) { r.warned = append(r.warned, err) })
	if err != nil {
		r.t.Fatal(err)
	}
	return k
}

func (r *rig) key(k Key) (Key, string) {
	r.t.Helper()
	if k.Tenant == "" {
		k.Tenant = "acme"
	}
	if k.Scopes == nil {
		k.Scopes = []Scope{Chat}
	}
	made, secret, err := r.Create(r.t.Context(), k)
	if err != nil {
		r.t.Fatal(err)
	}
	return made, secret
}

func bearer(secret string) http.Header { return http.Header{"Authorization": {"Bearer " + secret}} }

func (r *rig) refused(k *Keyring, h http.Header, part string) {
	r.t.Helper()
	p, err := k.Authenticate(r.t.Context(), h)
	if errs.CodeOf(err) != errs.Unauthenticated || !strings.Contains(err.Error(), part) || p.Owner != "" || p.Can(Any) {
		r.t.Errorf("got %+v and %v, want %q", p, err, part)
	}
}

func TestWithoutKeysEverybodyIsLocal(t *testing.T) {
	r := newRig(t)
	k := r.ring()
	p, err := k.Authenticate(t.Context(), bearer("anything at all"))
	if err != nil || p.Owner != Local || !p.Can(Admin) || k.Required(t.Context()) {
		t.Errorf("%+v %v", p, err)
	}
	if _, err := os.Stat(Dir(r.home)); !os.IsNotExist(err) {
		t.Errorf("reading made %s", Dir(r.home))
	}
}

func TestOfAnEmptyContextIsNobody(t *testing.T) {
	if p := Of(context.Background()); p.Owner != "" || p.Can(Any) || p.Can(Chat) {
		t.Errorf("%+v", p)
	}
}

// A server that once asked for keys goes on asking, whatever becomes of their file.
func TestAServerWithKeysNeverOpensAgain(t *testing.T) {
	r := newRig(t)
	made, secret := r.key(Key{})
	k := r.ring()
	if p, err := k.Authenticate(t.Context(), bearer(secret)); err != nil || p.Owner != "acme" || p.KeyID != made.ID || !p.Can(Chat) || p.Can(Read) {
		t.Fatalf("%+v %v", p, err)
	}
	if err := os.Remove(filepath.Join(Dir(r.home), "keys.toml")); err != nil {
		t.Fatal(err)
	}
	r.clock.Add(2 * time.Second)
	r.refused(k, bearer(secret), "not known")
	r.refused(k, nil, "no key")
}

func TestKeysThatComeWhileItRunsClose(t *testing.T) {
	r := newRig(t)
	k := r.ring()
	if k.Required(t.Context()) {
		t.Fatal("keys are asked for")
	}
	_, secret := r.key(Key{})
	r.clock.Add(2 * time.Second)
	r.refused(k, nil, "no key")
	if _, err := k.Authenticate(t.Context(), http.Header{"X-Api-Key": {secret}}); err != nil {
		t.Error(err)
	}
}

func TestRevokedExpiredRotated(t *testing.T) {
	r := newRig(t)
	short, shortSecret := r.key(Key{Expires: r.clock.T.Add(time.Hour)})
	_, offSecret := r.key(Key{Disabled: true})
	old, oldSecret := r.key(Key{Tenant: "other", Limits: limits.Quota{Requests: 9}})
	gone, goneSecret := r.key(Key{})
	k := r.ring()
	r.refused(k, bearer(offSecret), "switched off")
	if _, err := r.Revoke(t.Context(), gone.ID); err != nil {
		t.Fatal(err)
	}
	next, nextSecret, err := r.Rotate(t.Context(), old.ID, time.Minute)
	if err != nil || next.ID == old.ID || next.Tenant != "other" || next.Limits.Requests != 9 || nextSecret == oldSecret {
		t.Fatalf("%+v %v", next, err)
	}
	r.clock.Add(2 * time.Second)
	r.refused(k, bearer(goneSecret), "revoked")
	for _, s := range []string{shortSecret, oldSecret, nextSecret} {
		if _, err := k.Authenticate(t.Context(), bearer(s)); err != nil {
			t.Error(err)
		}
	}
	r.clock.Add(time.Minute)
	r.refused(k, bearer(oldSecret), "revoked")
	r.clock.Add(time.Hour)
	r.refused(k, bearer(shortSecret), "expired")
	if _, _, err := r.Rotate(t.Context(), short.ID, 0); errs.CodeOf(err) != errs.InvalidRequest {
		t.Errorf("an expired key was rotated: %v", err)
	}
	if _, err := r.Revoke(t.Context(), "key_none"); errs.CodeOf(err) != errs.NotFound {
		t.Errorf("got %v", err)
	}
}

// Both headers come through one reader, and what is odd is 401, never a failure (B14).
func TestCredentialsB14(t *testing.T) {
	r := newRig(t)
	_, secret := r.key(Key{})
	_, other := r.key(Key{})
	k := r.ring()
	for name, h := range map[string]http.Header{
		"both the same": {"Authorization": {"Bearer " + secret}, "X-Api-Key": {secret}},
		"lower case":    {"Authorization": {"bearer " + secret}},
		"as Tinker's":   {"X-Api-Key": {"tml-" + secret}},
		"as MinT's":     {"X-Api-Key": {"sk-mint-" + secret}},
		"both, as such": {"Authorization": {"Bearer " + secret}, "X-Api-Key": {"tml-" + secret}},
		"spaces":        {"Authorization": {"Bearer   " + secret + " "}},
	} {
		if _, err := k.Authenticate(t.Context(), h); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, h := range map[string]http.Header{
		"two keys":         {"Authorization": {"Bearer " + secret}, "X-Api-Key": {other}},
		"right and wrong":  {"Authorization": {"Bearer " + secret}, "X-Api-Key": {"mk-no"}},
		"twice":            {"Authorization": {"Bearer " + secret, "Bearer " + secret}},
		"x-api-key twice":  {"X-Api-Key": {secret, other}},
		"basic":            {"Authorization": {"Basic " + secret}},
		"no scheme":        {"Authorization": {secret}},
		"bearer alone":     {"Authorization": {"Bearer"}},
		"basic and key":    {"Authorization": {"Basic x"}, "X-Api-Key": {secret}},
		"non-ASCII":        {"Authorization": {"Bearer é"}},
		"non-ASCII key":    {"X-Api-Key": {"mk-é\xff\x00"}},
		"cookie":           {"Cookie": {"key=" + secret, "Authorization=Bearer " + secret}},
		"other header":     {"Api-Key": {secret}, "X-Auth": {secret}, "Proxy-Authorization": {"Bearer " + secret}},
		"other's prefix":   {"X-Api-Key": {"tml-" + secret[3:]}},
		"prefix twice":     {"X-Api-Key": {"tml-tml-" + secret}},
		"cut":              bearer(secret[:len(secret)-1]),
		"longer":           bearer(secret + "A"),
		"digest":           bearer(string(digestOf(secret))),
		"huge":             bearer(strings.Repeat("mk-", 100000)),
		"key in two parts": {"Authorization": {"Bearer " + secret + " x"}},
	} {
		t.Run(name, func(t *testing.T) { r.t = t; r.refused(k, h, "") })
	}
}

func TestSecretsAreNowhere(t *testing.T) {
	r := newRig(t)
	made, secret := r.key(Key{Name: "of a test"})
	if len(secret) != secretLength || !wellFormed(secret) {
		t.Errorf("%q", secret)
	}
	b, err := os.ReadFile(filepath.Join(Dir(r.home), "keys.toml"))
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(b), secret) || strings.Contains(string(b), secret[3:20]) || !strings.Contains(string(b), string(made.Digest)) {
		t.Errorf("the file is %s", b)
	}
	info, err := os.Stat(filepath.Join(Dir(r.home), "keys.toml"))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", info.Mode(), err)
	}
}

func TestAFileThatOthersMayReadIsRefused(t *testing.T) {
	r := newRig(t)
	r.key(Key{})
	path := filepath.Join(Dir(r.home), "keys.toml")
	if err := os.Chmod(path, 0o640); err != nil {
		t.Fatal(err)
	}
	if _, err := OpenFile(r.home).Load(t.Context()); errs.CodeOf(err) != errs.Forbidden || !strings.Contains(errs.As(err).Next, "chmod 600") {
		t.Errorf("got %v", err)
	}
}

// A file that cannot be used leaves the keys from before in force, and the operator is told.
func TestABrokenFileChangesNothing(t *testing.T) {
	r := newRig(t)
	_, secret := r.key(Key{})
	k := r.ring()
	path := filepath.Join(Dir(r.home), "keys.toml")
	for _, text := range []string{"keys = 3", "[[keys]]\nid = \"x\"\n", "[[keys]]\ncolour = 1\n", "\xff"} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := OpenFile(r.home).Load(t.Context()); errs.CodeOf(err) != errs.FormatInvalid {
			t.Errorf("%q gives %v", text, err)
		}
		r.warned = nil
		r.clock.Add(2 * time.Second)
		if _, err := k.Authenticate(t.Context(), bearer(secret)); err != nil || len(r.warned) != 1 {
			t.Errorf("%q: %v, told %v", text, err, r.warned)
		}
		r.refused(k, nil, "no key")
	}
}

func TestWrongKeysAreNotMade(t *testing.T) {
	r := newRig(t)
	for name, k := range map[string]Key{
		"tenant":  {Tenant: "a/b", Scopes: []Scope{Chat}},
		"no name": {Scopes: []Scope{Chat}},
		"scope":   {Tenant: "a", Scopes: []Scope{"root"}},
		"any":     {Tenant: "a", Scopes: []Scope{Any}},
		"public":  {Tenant: "a", Scopes: []Scope{Public}},
		"none":    {Tenant: "a"},
		"adapter": {Tenant: "a", Scopes: []Scope{Chat}, Adapters: []string{"../x"}},
		"limit":   {Tenant: "a", Scopes: []Scope{Chat}, Limits: limits.Quota{Requests: -1}},
		"expired": {Tenant: "a", Scopes: []Scope{Chat}, Expires: r.clock.T.Add(-time.Second)},
	} {
		if _, _, err := r.Create(t.Context(), k); err == nil || errs.CodeOf(err) == errs.Internal {
			t.Errorf("%s: %v", name, err)
		}
	}
	if all, err := r.Store.Load(t.Context()); err != nil || len(all.Keys) != 0 {
		t.Errorf("%v %v", all, err)
	}
}

// Writers in different processes do not lose each other's keys.
func TestManyWriters(t *testing.T) {
	r := newRig(t)
	var wg sync.WaitGroup
	var failed sync.Map
	for i := range 8 {
		wg.Go(func() {
			m := &Manager{Store: OpenFile(r.home), IDs: ids.NewSource(clock.System{}, nil), Now: clock.System{}.Now}
			if _, _, err := m.Create(context.Background(), Key{Tenant: "a", Scopes: []Scope{Chat}}); err != nil {
				failed.Store(i, err)
			}
		})
	}
	wg.Wait()
	failed.Range(func(_, err any) bool { t.Error(err); return true })
	if all, err := r.Store.Load(t.Context()); err != nil || len(all.Keys) != 8 {
		t.Errorf("%d keys, %v", len(all.Keys), err)
	}
}

func TestAFailedChangeWritesNothing(t *testing.T) {
	r := newRig(t)
	r.key(Key{})
	stop := errors.New("stop")
	if err := r.Store.Change(t.Context(), func(all *Keys) error { all.Keys = nil; return stop }); !errors.Is(err, stop) {
		t.Errorf("got %v", err)
	}
	if all, err := r.Store.Load(t.Context()); err != nil || len(all.Keys) != 1 {
		t.Errorf("%v %v", all, err)
	}
}

func TestTenantsBoundTheirKeysTogether(t *testing.T) {
	r := newRig(t)
	_, one := r.key(Key{Limits: limits.Quota{Requests: 100}})
	_, two := r.key(Key{})
	_, foreign := r.key(Key{Tenant: "other"})
	if err := r.SetTenant(t.Context(), Tenant{"acme", limits.Quota{Requests: 3}}); err != nil {
		t.Fatal(err)
	}
	k := r.ring()
	ask := func(secret string) (limits.Left, error) {
		p, err := k.Authenticate(t.Context(), bearer(secret))
		if err != nil {
			t.Fatal(err)
		}
		return p.Request(r.clock.Now())
	}
	for i, secret := range []string{one, two, one} {
		left, err := ask(secret)
		if err != nil || left.Quota.Requests != 3 || left.Requests != int64(2-i) {
			t.Errorf("%d: %+v %v", i, left, err)
		}
	}
	if _, err := ask(two); errs.CodeOf(err) != errs.RateLimited || errs.As(err).RetryAfter < time.Second {
		t.Errorf("got %v", err)
	}
	if _, err := ask(foreign); err != nil {
		t.Error(err)
	}
	if err := r.SetTenant(t.Context(), Tenant{Name: "acme"}); err != nil {
		t.Fatal(err)
	}
	r.clock.Add(2 * time.Second)
	if _, err := ask(two); err != nil {
		t.Errorf("without the bound: %v", err)
	}
}

func FuzzFile(f *testing.F) {
	f.Add([]byte("[[keys]]\nid = \"key_01ARZ3NDEKTSV4RRFFQ69G5FAV\"\ndigest = \"sha256:" + strings.Repeat("0", 64) + "\"\ntenant = \"a\"\nscopes = [\"chat\"]\ncreated = 2026-01-01T00:00:00Z\n"))
	f.Add([]byte("[[tenants]]\nname = \"a\"\n[tenants.limits]\nrpm = 1\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		all, err := parse("keys.toml", b)
		if err != nil {
			if errs.CodeOf(err) != errs.FormatInvalid {
				t.Fatalf("uncoded: %v", err)
			}
			return
		}
		for _, k := range all.Keys {
			if k.Check() != nil {
				t.Fatalf("%+v passed", k)
			}
		}
	})
}

// A key is of one user, or of somebody who names users; what is no name is refused.
func TestUsersOfKeys(t *testing.T) {
	base := Key{ID: "key_01M8N7RRSWCRS4MDX20MMYY9X7", Digest: digestOf("x"), Tenant: "acme", Scopes: []Scope{Chat}}
	for user, good := range map[string]bool{"ana": true, "a/b c@d": true, " ana": false, "a\nb": false, "\xff": false, strings.Repeat("x", 257): false} {
		k := base
		k.User = user
		if err := k.Check(); (err == nil) != good {
			t.Errorf("%q: %v", user, err)
		}
	}
	both := base
	both.User, both.Trusted = "ana", true
	if errs.As(both.Check()).Field != "user" {
		t.Error("a key is of one user and names others")
	}
}
