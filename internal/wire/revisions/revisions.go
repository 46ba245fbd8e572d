// Package revisions is /v1/revisions and /v1/policies: the catalogue of adapter revisions
// over HTTP. It decodes and encodes; the catalogue does the work. docs/formats/catalogue.md
// has the fields.
package revisions

import (
	"context"
	"net/http"
	"strconv"

	"macaron/internal/adapter"
	"macaron/internal/errs"
	"macaron/internal/ids"
	"macaron/internal/mint/catalogue"
	"macaron/internal/wire/chatapi"
)

// Catalogue is what the API needs of the catalogue.
type Catalogue interface {
	Revision(ctx context.Context, owner string, hash ids.Digest) (adapter.Published, error)
	Revisions(ctx context.Context, owner string, s adapter.Search) ([]adapter.Numbered, error)
	Lineage(ctx context.Context, owner string, hash ids.Digest, limit int) ([]adapter.Published, error)
	Recipe(ctx context.Context, owner string, hash ids.Digest) (string, error)
	Files(ctx context.Context, owner string, hash ids.Digest) (catalogue.Files, error)
	Pointers(ctx context.Context, owner, name string) ([]adapter.Pointer, error)
	History(ctx context.Context, owner, name, alias string, limit int) ([]adapter.Pointer, error)
	Promote(ctx context.Context, owner string, m catalogue.Move) (adapter.Pointer, error)
	Rollback(ctx context.Context, owner string, m catalogue.Move) (adapter.Pointer, error)
	Alias(ctx context.Context, owner string, m catalogue.Move) (adapter.Pointer, error)
}

// Deps are the handler's surroundings.
type Deps struct {
	Catalogue Catalogue
	Owner     func(*http.Request) string // tenant of a request
	By        func(*http.Request) string // who asks, for the history
	// Servable refuses an adapter that cannot be given another revision, and gives the hash of
	// the contract in force.
	Servable func(ctx context.Context, owner, name string) (ids.Digest, error)
	Collect  func(ctx context.Context, dryRun bool) (catalogue.Collected, error)
	Fail     func(http.ResponseWriter, error)
}

// Handler serves the paths below /v1/revisions and /v1/policies, and the collection.
func Handler(d Deps) http.Handler {
	mux := http.NewServeMux()
	for pattern, h := range map[string]func(w http.ResponseWriter, r *http.Request) error{
		"GET /v1/revisions":                      d.list,
		"GET /v1/revisions/{hash}":               d.show,
		"GET /v1/revisions/{hash}/files/{file}":  d.file,
		"GET /v1/policies":                       d.policies,
		"GET /v1/policies/{name}":                d.policies,
		"GET /v1/policies/{name}/history":        d.history,
		"POST /v1/policies/{name}/promote":       d.promote,
		"POST /v1/policies/{name}/rollback":      d.rollback,
		"POST /v1/policies/{name}/alias/{alias}": d.alias,
		"POST /admin/revisions/gc":               d.collect,
	} {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			if err := h(w, r); err != nil {
				d.Fail(w, err)
			}
		})
	}
	return mux
}

// maxLineage bounds the ancestors that one answer shows.
const maxLineage = 1000

func (d Deps) list(w http.ResponseWriter, r *http.Request) error {
	q := r.URL.Query()
	s, err := search(q.Get("name"), q.Get("parent"), q.Get("before"), q.Get("limit"))
	if err != nil {
		return err
	}
	all, err := d.Catalogue.Revisions(r.Context(), d.Owner(r), s)
	if err != nil {
		return err
	}
	return chatapi.WriteJSON(w, map[string]any{"object": "list", "data": append([]adapter.Numbered{}, all...), "has_more": len(all) == s.Limit})
}

func search(name, parent, before, limit string) (s adapter.Search, err error) {
	s.Name, s.Limit = name, 50
	if parent != "" {
		if s.Parent, err = ids.ParseDigest(parent); err != nil {
			return s, err
		}
	}
	if s.Before, err = number("before", before, 0, 1<<62); err != nil {
		return s, err
	}
	n, err := number("limit", limit, 50, 1000)
	s.Limit = int(max(n, 1))
	return s, err
}

// number reads a whole number from 0 to most; an empty text is absent.
func number(field, text string, absent, most int64) (int64, error) {
	if text == "" {
		return absent, nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 || n > most {
		return 0, errs.New(errs.InvalidRequest, field+" is "+errs.Clip(text), "use a whole number from 0 to "+strconv.FormatInt(most, 10)).In(field)
	}
	return n, nil
}

// Shown is a revision with what the catalogue knows around it.
type Shown struct {
	adapter.Published
	Object     string             `json:"object"` // revision
	RecipeText string             `json:"recipe_text,omitempty"`
	Lineage    []ids.Digest       `json:"lineage"` // ancestors that are in the catalogue, the nearest first
	Children   []adapter.Numbered `json:"children"`
}

// Show gathers what is known of a revision.
func Show(ctx context.Context, c Catalogue, owner string, hash ids.Digest) (Shown, error) {
	line, err := c.Lineage(ctx, owner, hash, maxLineage)
	if err != nil {
		return Shown{}, err
	}
	out := Shown{Published: line[0], Object: "revision", Lineage: []ids.Digest{}}
	for _, p := range line[1:] {
		out.Lineage = append(out.Lineage, p.Hash)
	}
	if out.Recipe != "" {
		if out.RecipeText, err = c.Recipe(ctx, owner, out.Recipe); err != nil {
			return Shown{}, err
		}
	}
	below, err := c.Revisions(ctx, owner, adapter.Search{Parent: hash, Limit: 100})
	out.Children = append([]adapter.Numbered{}, below...)
	return out, err
}

func (d Deps) show(w http.ResponseWriter, r *http.Request) error {
	hash, err := ids.ParseDigest(r.PathValue("hash"))
	if err != nil {
		return err
	}
	s, err := Show(r.Context(), d.Catalogue, d.Owner(r), hash)
	if err != nil {
		return err
	}
	return chatapi.WriteJSON(w, s)
}

func (d Deps) file(w http.ResponseWriter, r *http.Request) error {
	hash, err := ids.ParseDigest(r.PathValue("hash"))
	if err != nil {
		return err
	}
	f, err := d.Catalogue.Files(r.Context(), d.Owner(r), hash)
	if err != nil {
		return err
	}
	b, kind := f.Config, "application/json"
	switch r.PathValue("file") {
	case catalogue.ConfigFile:
	case catalogue.TensorsFile:
		b, kind = f.Tensors, "application/octet-stream"
	default:
		return errs.New(errs.NotFound, "a revision has no file "+errs.Clip(r.PathValue("file")), "it has "+catalogue.ConfigFile+" and "+catalogue.TensorsFile)
	}
	w.Header().Set("Content-Type", kind)
	w.Header().Set("Content-Length", strconv.Itoa(len(b)))
	_, err = w.Write(b)
	return errs.Wrap(errs.Canceled, err, "the client went away", "")
}

func (d Deps) collect(w http.ResponseWriter, r *http.Request) error {
	m, err := members(r, "dry_run")
	if err != nil {
		return err
	}
	dry, err := flag(m, "dry_run")
	if err != nil {
		return err
	}
	did, err := d.Collect(r.Context(), dry)
	if err != nil {
		return err
	}
	return chatapi.WriteJSON(w, did)
}
