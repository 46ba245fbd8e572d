package revisions

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"macaron/internal/adapter"
	"macaron/internal/errs"
	"macaron/internal/ids"
	"macaron/internal/limits"
	"macaron/internal/mint/catalogue"
	"macaron/internal/wire/chatapi"
)

func (d Deps) policies(w http.ResponseWriter, r *http.Request) error {
	name := r.PathValue("name")
	all, err := d.Catalogue.Pointers(r.Context(), d.Owner(r), name)
	if err != nil {
		return err
	}
	return pointers(w, name, all)
}

func (d Deps) history(w http.ResponseWriter, r *http.Request) error {
	q := r.URL.Query()
	limit, err := number("limit", q.Get("limit"), 100, 10000)
	if err != nil {
		return err
	}
	name := r.PathValue("name")
	all, err := d.Catalogue.History(r.Context(), d.Owner(r), name, q.Get("alias"), int(max(limit, 1)))
	if err != nil {
		return err
	}
	return pointers(w, name, all)
}

// pointers answers with a list. A name that the owner never pointed anywhere is not found,
// whether another owner has it or nobody.
func pointers(w http.ResponseWriter, name string, all []adapter.Pointer) error {
	if name != "" && len(all) == 0 {
		return errs.New(errs.NotFound, "no pointer of "+errs.Clip(name)+" ever moved", "`GET /v1/policies` lists yours").In("name")
	}
	return chatapi.WriteJSON(w, map[string]any{"object": "list", "data": append([]adapter.Pointer{}, all...)})
}

func (d Deps) promote(w http.ResponseWriter, r *http.Request) error {
	m, err := d.move(r, true)
	if err != nil {
		return err
	}
	p, err := d.Catalogue.Promote(r.Context(), d.Owner(r), m)
	return told(w, p, err)
}

func (d Deps) rollback(w http.ResponseWriter, r *http.Request) error {
	m, err := d.move(r, true)
	if err != nil {
		return err
	}
	if m.Revision != "" {
		return errs.New(errs.InvalidRequest, "a rollback goes to the previous champion, and names no revision", "promote the revision instead").In("revision")
	}
	p, err := d.Catalogue.Rollback(r.Context(), d.Owner(r), m)
	return told(w, p, err)
}

func (d Deps) alias(w http.ResponseWriter, r *http.Request) error {
	m, err := d.move(r, false)
	if err != nil {
		return err
	}
	m.Alias = r.PathValue("alias")
	p, err := d.Catalogue.Alias(r.Context(), d.Owner(r), m)
	return told(w, p, err)
}

func told(w http.ResponseWriter, p adapter.Pointer, err error) error {
	if err != nil {
		return err
	}
	return chatapi.WriteJSON(w, p)
}

// move reads what a request asks to be moved.
func (d Deps) move(r *http.Request, served bool) (catalogue.Move, error) {
	out := catalogue.Move{Name: r.PathValue("name"), Version: -1, By: d.By(r)}
	m, err := members(r, "revision", "version", "reason", "checkpoint", "optimizer", "rollouts", "exported")
	if err != nil {
		return out, err
	}
	if served {
		if out.Contract, err = d.Servable(r.Context(), d.Owner(r), out.Name); err != nil {
			return out, err
		}
	}
	for name, at := range map[string]*ids.Digest{"revision": &out.Revision, "checkpoint": &out.Checkpoint, "optimizer": &out.Optimizer} {
		text, err := chatapi.Optional(name, m[name], limits.NameBytes)
		if err != nil {
			return out, err
		}
		if text != "" {
			if *at, err = ids.ParseDigest(text); err != nil {
				return out, errs.As(err).In(name)
			}
		}
	}
	if out.Reason, err = chatapi.Optional("reason", m["reason"], 4096); err != nil {
		return out, err
	}
	if raw := m["version"]; !limits.Absent(raw) {
		if err := json.Unmarshal(raw, &out.Version); err != nil || out.Version < 0 {
			return out, errs.New(errs.InvalidRequest, "version is not a whole number from 0", "give the version that you have seen, 0 for none").In("version")
		}
	}
	return out, lists(m, &out.Links)
}

func lists(m map[string]json.RawMessage, to *catalogue.Links) error {
	for name, at := range map[string]any{"rollouts": &to.Rollouts, "exported": &to.Exported} {
		if raw := m[name]; !limits.Absent(raw) {
			if err := json.Unmarshal(raw, at); err != nil {
				return errs.New(errs.InvalidRequest, name+" is not a list of texts", "").In(name)
			}
		}
	}
	return nil
}

// members reads a body's members and refuses those that nobody knows.
func members(r *http.Request, known ...string) (map[string]json.RawMessage, error) {
	if err := limits.ContentType(r.Header.Get("Content-Type")); err != nil {
		return nil, err
	}
	body, err := limits.Body(r.Body, r.ContentLength)
	if err != nil {
		return nil, err
	}
	m, err := limits.Object("", body)
	if err != nil {
		return nil, err
	}
	for name := range m {
		if !slices.Contains(known, name) {
			return nil, errs.New(errs.InvalidRequest, "there is no field "+errs.Clip(name), "send some of "+strings.Join(known, ", ")).In(errs.Clip(name))
		}
	}
	return m, nil
}

func flag(m map[string]json.RawMessage, name string) (bool, error) {
	if limits.Absent(m[name]) {
		return false, nil
	}
	return limits.Bool(name, m[name])
}
