package vllm

import (
	"encoding/json"
	"fmt"
	"net/http"

	"macaron/internal/adapter"
	"macaron/internal/backend"
	"macaron/internal/errs"
	"macaron/internal/limits"
	"macaron/internal/wire/chatapi"
)

// maxMixture bounds the adapters of one request.
const maxMixture = 16

// scaled is one adapter of a request's own mixture, by name or by its place in the list.
type scaled struct {
	field string
	name  string
	id    int
	scale float32
}

// loraField reads llama-server's list of adapters with their scales.
func loraField(r *request, field string, raw json.RawMessage) error {
	items, err := limits.List(field, raw, maxMixture)
	if err != nil {
		return err
	}
	r.mixed = true
	for i, item := range items {
		s, err := readScaled(fmt.Sprintf("%s[%d]", field, i), item)
		if err != nil {
			return err
		}
		r.mixture = append(r.mixture, s)
	}
	return nil
}

func readScaled(at string, raw json.RawMessage) (scaled, error) {
	s := scaled{field: at, id: -1, scale: 1}
	members, err := limits.Object(at, raw)
	if err != nil {
		return s, err
	}
	for name, value := range members {
		switch name {
		case "name":
			s.name, err = limits.Text(at+".name", value, limits.NameBytes)
		case "id":
			var n int64
			n, err = limits.Whole(at+".id", value, 0, 1<<20)
			s.id = int(n)
		case "scale":
			var x *float64
			if x, err = limits.Number(at+".scale", value, -100, 100); err == nil {
				s.scale = float32(*x)
			}
		default:
			err = errs.New(errs.InvalidRequest, at+" has no field "+errs.Clip(name), "give name or id, and scale").In(at)
		}
		if err != nil {
			return s, err
		}
	}
	if (s.name == "") == (s.id < 0) {
		return s, errs.New(errs.InvalidRequest, at+" needs either a name or an id", "").In(at)
	}
	return s, nil
}

// adapters finds what the request is answered with, and whose prefix it takes.
// They stay loadable until the request lets go of them.
func (a *api) adapters(r *request) error {
	err := a.own(r)
	if err == nil {
		err = a.lay(r)
	}
	if err != nil {
		r.letGo()
	}
	return err
}

// hold finds what a name stands for, for as long as the request lasts.
func (a *api) hold(r *request, name string) (adapter.Revision, error) {
	rev, release, err := a.Names.Hold(name)
	if err == nil {
		r.held = append(r.held, release)
	}
	return rev, err
}

// letGo ends what hold began.
func (r *request) letGo() {
	for _, release := range r.held {
		release()
	}
}

// own finds the model's own adapter, or the request's own mixture in its place.
func (a *api) own(r *request) (err error) {
	if r.model == "" {
		r.model = a.Names.Base()[0]
	}
	if r.Revision, err = a.hold(r, r.model); err != nil || !r.mixed {
		return err
	}
	if !r.Revision.IsBase() {
		return errs.New(errs.InvalidRequest, "lora is for the base, and the model is an adapter already", "name the base as the model").In("lora")
	}
	list := a.Names.List()
	for _, s := range r.mixture {
		w := backend.Weighted{Scale: s.scale}
		switch {
		case s.name != "":
			w.Revision, err = a.hold(r, s.name)
		case s.id < len(list):
			w.Revision, err = a.hold(r, list[s.id].Name)
		default:
			err = errs.New(errs.AdapterNotFound, fmt.Sprintf("there is no adapter %d", s.id), "GET /v1/models lists them, the first is 0")
		}
		if err != nil || w.Revision.IsBase() {
			return errs.As(orNotFound(err, s.name)).In(s.field)
		}
		if w.Scale != 0 {
			r.Mixture = append(r.Mixture, w)
		}
	}
	return nil
}

func orNotFound(err error, name string) error {
	if err != nil {
		return err
	}
	return errs.Newf(errs.AdapterNotFound, "%q is the base, not an adapter", name)
}

// loadAdapter serves POST /v1/load_lora_adapter.
func (a *api) loadAdapter(w http.ResponseWriter, r *http.Request) {
	var name, path string
	inplace := false
	err := a.adapterBody(w, r, map[string]func(json.RawMessage) error{
		"lora_name": func(raw json.RawMessage) (err error) {
			name, err = limits.Text("lora_name", raw, limits.NameBytes)
			return
		},
		"lora_path":    func(raw json.RawMessage) (err error) { path, err = limits.Text("lora_path", raw, 4096); return },
		"load_inplace": func(raw json.RawMessage) (err error) { inplace, err = limits.Bool("load_inplace", raw); return },
		"is_3d_lora_weight": func(raw json.RawMessage) error {
			return only("there are no experts", "false")(nil, "is_3d_lora_weight", raw)
		},
	})
	if err == nil {
		err = a.Names.Load(name, path, inplace)
	}
	a.adapterDone(w, r, err, name, "added")
}

// unloadAdapter serves POST /v1/unload_lora_adapter.
func (a *api) unloadAdapter(w http.ResponseWriter, r *http.Request) {
	name := ""
	err := a.adapterBody(w, r, map[string]func(json.RawMessage) error{
		"lora_name": func(raw json.RawMessage) (err error) {
			name, err = limits.Text("lora_name", raw, limits.NameBytes)
			return
		},
		"lora_int_id": func(raw json.RawMessage) error {
			return only("adapters are known by name", "null")(nil, "lora_int_id", raw)
		},
	})
	if err == nil {
		err = a.Names.Unload(name)
	}
	a.adapterDone(w, r, err, name, "removed")
}

// adapterBody reads the fields of a change to the adapters.
func (a *api) adapterBody(w http.ResponseWriter, r *http.Request, fields map[string]func(json.RawMessage) error) error {
	if !a.Runtime {
		return errs.New(errs.Forbidden, "adapters are not loaded and unloaded while this server runs", "start it with --allow-runtime-lora")
	}
	body, err := chatapi.Body(w, r)
	if err != nil {
		return err
	}
	members, err := limits.Object("", body)
	if err != nil {
		return err
	}
	for name, raw := range members {
		read, known := fields[name]
		if !known {
			return errs.New(errs.InvalidRequest, "there is no field "+errs.Clip(name), "").In(errs.Clip(name))
		}
		if limits.Absent(raw) {
			continue
		}
		if err := read(raw); err != nil {
			return err
		}
	}
	return nil
}

func (a *api) adapterDone(w http.ResponseWriter, r *http.Request, err error, name, what string) {
	if err != nil {
		a.fail(w, r, err, 0)
		return
	}
	a.Log.Info("adapter "+what, "id", r.Header.Get("X-Request-Id"), "name", name)
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	_, _ = w.Write([]byte("Success: LoRA adapter '" + name + "' " + what + " successfully.")) // the client may have gone
}
