package auth

import (
	"context"
	"slices"
	"time"

	"macaron/internal/errs"
	"macaron/internal/ids"
	"macaron/internal/limits"
)

// Manager makes and ends keys.
type Manager struct {
	Store Store
	IDs   *ids.Source
	Now   func() time.Time
}

// Create makes a key of the wanted kind and gives its secret, which is not kept.
func (m *Manager) Create(ctx context.Context, want Key) (Key, string, error) {
	secret := NewSecret()
	want.ID, want.Digest, want.Created = m.IDs.New(ids.APIKey), digestOf(secret), m.Now().UTC().Truncate(time.Second)
	if err := want.Check(); err != nil {
		return Key{}, "", err
	}
	if !want.Expires.IsZero() && !want.Expires.After(want.Created) {
		return Key{}, "", errs.New(errs.InvalidRequest, "the key would have expired already", "give a later time").In("expires")
	}
	err := m.Store.Change(ctx, func(all *Keys) error {
		all.Keys = append(all.Keys, want)
		return nil
	})
	return want, secret, err
}

// Revoke ends a key for ever. One that is revoked already stays as it is.
func (m *Manager) Revoke(ctx context.Context, id string) (Key, error) {
	var out Key
	err := m.Store.Change(ctx, func(all *Keys) error {
		k, err := find(all, id)
		if err != nil {
			return err
		}
		if now := m.Now().UTC().Truncate(time.Second); k.Revoked.IsZero() || k.Revoked.After(now) {
			k.Revoked = now
		}
		out = *k
		return nil
	})
	return out, err
}

// Rotate makes a key like another one, which may be used for the grace time still.
func (m *Manager) Rotate(ctx context.Context, id string, grace time.Duration) (Key, string, error) {
	secret, now := NewSecret(), m.Now().UTC().Truncate(time.Second)
	var next Key
	err := m.Store.Change(ctx, func(all *Keys) error {
		old, err := find(all, id)
		if err != nil {
			return err
		}
		if state := old.State(now); state != "active" {
			return errs.New(errs.InvalidRequest, "the key "+id+" is "+state, "make a new one with `macaron key create`").In("id")
		}
		next = *old
		next.ID, next.Digest, next.Created = m.IDs.New(ids.APIKey), digestOf(secret), now
		old.Revoked = now.Add(grace)
		all.Keys = append(all.Keys, next)
		return nil
	})
	return next, secret, err
}

// SetTenant bounds the keys of a tenant together; a zero quota takes the bounds away.
func (m *Manager) SetTenant(ctx context.Context, t Tenant) error {
	if err := CheckTenant(t.Name); err != nil {
		return err
	}
	if err := t.Limits.Check(); err != nil {
		return err
	}
	return m.Store.Change(ctx, func(all *Keys) error {
		all.Tenants = slices.DeleteFunc(all.Tenants, func(o Tenant) bool { return o.Name == t.Name })
		if t.Limits != (limits.Quota{}) {
			all.Tenants = append(all.Tenants, t)
		}
		return nil
	})
}

func find(all *Keys, id string) (*Key, error) {
	for i := range all.Keys {
		if all.Keys[i].ID == id {
			return &all.Keys[i], nil
		}
	}
	return nil, errs.New(errs.NotFound, "there is no key "+errs.Clip(id), "`macaron key list` shows their ids")
}
