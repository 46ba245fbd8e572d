package auth

import (
	"context"
	"crypto/subtle"
	"net/http"
	"sync"
	"time"

	"macaron/internal/clock"
	"macaron/internal/errs"
	"macaron/internal/ids"
	"macaron/internal/limits"
	"macaron/internal/record"
)

// Keys is all that is kept: a store holds it as a whole.
type Keys struct {
	Keys    []Key    `toml:"keys"`
	Tenants []Tenant `toml:"tenants"`
}

// Store keeps the keys of a server.
type Store interface {
	// Load gives the keys as they are now. It is called often and is cheap when nothing has changed.
	Load(ctx context.Context) (*Keys, error)
	// Change reads, changes and writes as one step; nothing is written when fn fails.
	Change(ctx context.Context, fn func(*Keys) error) error
}

// fresh is how long a revocation may take to be noticed.
const fresh = time.Second

// Keyring knows the keys in force and counts what they use. It is safe for concurrent use.
type Keyring struct {
	store Store
	clock clock.Clock
	warn  func(error)

	mu      sync.Mutex
	looked  time.Time
	loaded  *Keys
	keys    map[ids.Digest]*held
	tenants map[string]*limits.Account
	asked   bool // there has been a key: the server never opens again
	ledger  Ledger
	lent    *held // known to this process alone
}

// held is a key with what it has used.
type held struct {
	Key
	account *limits.Account
}

// Ledger keeps what keys and tenants have used, for every process that serves them. The
// account of a tenant is "", that of a key its id.
type Ledger interface {
	Settle(ctx context.Context, owner, account string, change func(*record.Balance)) (record.Balance, error)
}

// NewKeyring reads the keys; without a ledger it counts for itself. warn is told when they cannot be read later on; the ones from before
// stay in force then.
func NewKeyring(ctx context.Context, s Store, c clock.Clock, l Ledger, warn func(error)) (*Keyring, error) {
	k := &Keyring{store: s, clock: c, warn: warn, ledger: l, tenants: map[string]*limits.Account{}}
	all, err := s.Load(ctx)
	if err != nil {
		return nil, err
	}
	k.take(all)
	return k, nil
}

// Lend makes a secret of this process valid for the local tenant, as long as the process lives: a
// command that serves itself does not need a key of its own in the store.
func (k *Keyring) Lend(secret string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.lent = &held{Key{ID: "lent", Digest: digestOf(secret), Tenant: Local, Scopes: Scopes()}, limits.NewAccount("this process", limits.Quota{}, nil)}
	k.keys[k.lent.Digest] = k.lent
}

// Required reports whether requests need a key: whenever one was made, even if it is revoked now.
func (k *Keyring) Required(ctx context.Context) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.refresh(ctx)
	return k.asked
}

// Authenticate gives the principal of a request. Without any key every caller is Anybody.
func (k *Keyring) Authenticate(ctx context.Context, h http.Header) (Principal, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.refresh(ctx)
	if !k.asked {
		return Anybody(), nil
	}
	secret, err := Credential(h)
	if err != nil {
		return Principal{}, err
	}
	if secret == "" {
		return Principal{}, unauthenticated("there is no key")
	}
	key, err := k.find(secret)
	if err != nil {
		return Principal{}, err
	}
	p := Principal{Owner: key.Tenant, User: key.User, Trusted: key.Trusted, KeyID: key.ID, Scopes: key.Scopes, Adapters: key.Adapters, accounts: []*limits.Account{key.account}}
	if t := k.tenants[key.Tenant]; t != nil {
		p.accounts = append(p.accounts, t)
	}
	return p, nil
}

// find looks a secret up by its digest, whose bytes a caller cannot choose, so the time of the
// look-up tells nothing of the secrets; the comparison takes the same time for all.
func (k *Keyring) find(secret string) (*held, error) {
	wrong := unauthenticated("the key is not known here")
	if !wellFormed(secret) {
		return nil, wrong
	}
	digest := digestOf(secret)
	key, ok := k.keys[digest]
	if !ok || subtle.ConstantTimeCompare([]byte(key.Digest), []byte(digest)) != 1 {
		return nil, wrong
	}
	if err := key.state(k.clock.Now()); err != nil {
		return nil, err
	}
	return key, nil
}

// Tenant is the account of a tenant, nil if it has no key.
func (k *Keyring) Tenant(name string) *limits.Account {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.tenants[name]
}

// refresh looks for changes, at most once in a while.
func (k *Keyring) refresh(ctx context.Context) {
	now := k.clock.Now()
	if since := now.Sub(k.looked); since >= 0 && since < fresh {
		return
	}
	k.looked = now
	all, err := k.store.Load(ctx)
	if err != nil {
		k.warn(errs.Wrap(errs.CodeOf(err), err, "the changed keys cannot be used; those before stay in force", ""))
		return
	}
	if all != k.loaded {
		k.take(all)
	}
}

// take puts keys into force. What a key or tenant has used stays used.
func (k *Keyring) take(all *Keys) {
	old := map[string]*limits.Account{}
	for _, h := range k.keys {
		old[h.ID] = h.account
	}
	quotas := map[string]limits.Quota{}
	for _, t := range all.Tenants {
		quotas[t.Name] = t.Limits
	}
	keys, tenants := make(map[ids.Digest]*held, len(all.Keys)), map[string]*limits.Account{}
	for _, key := range all.Keys {
		keys[key.Digest] = &held{key, k.account(old, key.ID, entry{k.ledger, key.Tenant, key.ID}, "this key", key.Limits)}
		tenants[key.Tenant] = k.account(k.tenants, key.Tenant, entry{k.ledger, key.Tenant, ""}, "this tenant", quotas[key.Tenant])
	}
	k.loaded, k.keys, k.tenants, k.looked = all, keys, tenants, k.clock.Now()
	k.asked = k.asked || len(all.Keys) > 0
	if k.lent != nil {
		keys[k.lent.Digest] = k.lent
	}
}

// account goes on with the one that there is, or with what the ledger has.
func (k *Keyring) account(have map[string]*limits.Account, id string, e entry, name string, q limits.Quota) *limits.Account {
	if a := have[id]; a != nil {
		a.SetQuota(q)
		return a
	}
	if k.ledger == nil {
		return limits.NewAccount(name, q, nil)
	}
	return limits.NewAccount(name, q, e)
}
