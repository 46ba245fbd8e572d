package auth

import (
	"context"
	"errors"
	"time"

	"macaron/internal/limits"
	"macaron/internal/record"
)

// entry is one account of a ledger.
type entry struct {
	ledger         Ledger
	owner, account string
}

// patience is how long a request waits for the ledger before the account counts for itself.
const patience = 5 * time.Second

// Settle implements limits.Ledger.
func (e entry) Settle(change func(*record.Balance)) (record.Balance, error) {
	ctx, stop := context.WithTimeout(context.Background(), patience)
	defer stop()
	return e.ledger.Settle(ctx, e.owner, e.account, change)
}

// Flush tells the ledger what keys and tenants have used since the last time; at the end it
// also gives back what was taken out for requests that did not come.
func (k *Keyring) Flush(now time.Time, end bool) error {
	var all []*limits.Account
	k.mu.Lock()
	for _, h := range k.keys {
		all = append(all, h.account)
	}
	for _, a := range k.tenants {
		all = append(all, a)
	}
	k.mu.Unlock()
	var err error
	for _, a := range all {
		err = errors.Join(err, a.Flush(now, end))
	}
	return err
}

// Usage tells what keys (by id) and tenants (by name) have used, as this process knows it.
func (k *Keyring) Usage() map[string]record.Balance {
	k.mu.Lock()
	defer k.mu.Unlock()
	u := map[string]record.Balance{}
	for _, key := range k.loaded.Keys {
		h := k.keys[key.Digest]
		u[h.ID] = h.account.Balance()
	}
	for name, a := range k.tenants {
		u[name] = a.Balance()
	}
	return u
}
