package tinker

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"macaron/internal/errs"
	"macaron/internal/mint"
	"macaron/internal/train"
)

// scheme begins the address of a checkpoint, scheme<run>/<kind>/<name>. MinT's own is the
// other one.
const (
	scheme      = "tinker://"
	otherScheme = "mint://"
)

// uri reads the address of a checkpoint.
func (o *object) uri(name string) string {
	text := o.id(name)
	if rest, ok := strings.CutPrefix(text, otherScheme); ok {
		text = scheme + rest
	}
	if o.err == nil && !address(text) {
		o.fail(errs.New(errs.InvalidRequest, o.path(name)+" is no address of a checkpoint", "use tinker://RUN/weights/NAME, or sampler_weights or external_weights in the middle").In(o.path(name)))
	}
	return text
}

// address reports whether a text has the three parts of an address.
func address(text string) bool {
	rest, ok := strings.CutPrefix(text, scheme)
	parts := strings.Split(rest, "/")
	if !ok || len(parts) != 3 || parts[0] == "" || parts[2] == "" {
		return false
	}
	switch mint.Kind(parts[1]) {
	case mint.Training, mint.Sampling, mint.External:
		return true
	}
	return false
}

// target splits a path below a run's checkpoints into the checkpoint's address and what is
// asked of it: "" or one of the actions.
func target(r *http.Request, actions ...string) (path, action string, err error) {
	id := r.PathValue("checkpoint")
	for _, name := range actions {
		if rest, ok := strings.CutSuffix(id, "/"+name); ok && strings.Contains(rest, "/") {
			id, action = rest, name
			break
		}
	}
	path = scheme + r.PathValue("run") + "/" + id
	if !address(path) {
		return "", "", errs.New(errs.NotFound, "there is no checkpoint "+errs.Clip(id), "its id is weights/NAME, sampler_weights/NAME or external_weights/NAME")
	}
	return path, action, nil
}

type checkpoint struct {
	ID       string  `json:"checkpoint_id"`
	Type     string  `json:"checkpoint_type"`
	Time     string  `json:"time"`
	Path     string  `json:"tinker_path"`
	Bytes    int64   `json:"size_bytes"`
	Public   bool    `json:"public"`
	Metadata any     `json:"user_metadata,omitempty"`
	Expires  *string `json:"expires_at"`
}

// kinds are the protocol's words for what a checkpoint is of.
var kinds = map[mint.Kind]string{mint.Training: "training", mint.Sampling: "sampler", mint.External: "external"}

func checkpointOf(c mint.Checkpoint) checkpoint {
	out := checkpoint{ID: string(c.Kind) + "/" + c.Name, Type: kinds[c.Kind], Time: stamp(c.Created), Path: c.Path, Bytes: c.Bytes, Public: c.Public}
	if len(c.Metadata) > 0 {
		out.Metadata = texts(c.Metadata)
	}
	if !c.Expires.IsZero() {
		expires := stamp(c.Expires)
		out.Expires = &expires
	}
	return out
}

func (a *api) allCheckpoints(w http.ResponseWriter, r *http.Request) error {
	return a.listCheckpoints(w, r, "", 50)
}

func (a *api) checkpoints(w http.ResponseWriter, r *http.Request) error {
	return a.listCheckpoints(w, r, r.PathValue("run"), pageMost)
}

func (a *api) listCheckpoints(w http.ResponseWriter, r *http.Request, run string, usual int) error {
	p, err := page(r, usual)
	if err != nil {
		return err
	}
	list, total, err := a.Service.Checkpoints(r.Context(), a.owner(r), run, p)
	if err != nil {
		return err
	}
	all := []checkpoint{}
	for _, c := range list {
		if c.Kind != mint.External || knowsExternal(r) {
			all = append(all, checkpointOf(c))
		}
	}
	return a.answer(w, r, map[string]any{"checkpoints": all, "cursor": cursor{p.Offset, p.Limit, total}})
}

// knowsExternal reports whether a client has a word for external checkpoints. An SDK before
// 0.25 refuses the whole list for one.
func knowsExternal(r *http.Request) bool {
	major, rest, _ := strings.Cut(r.Header.Get("X-Stainless-Package-Version"), ".")
	minor, _, _ := strings.Cut(rest, ".")
	n, err := strconv.Atoi(minor)
	return major != "0" || err != nil || n >= 25
}

func (a *api) deleteOrUnpublish(w http.ResponseWriter, r *http.Request) error {
	path, action, err := target(r, "publish")
	if err != nil {
		return err
	}
	if action == "publish" {
		err = a.Service.Publish(r.Context(), a.owner(r), path, false)
	} else {
		err = a.Service.DeleteCheckpoint(r.Context(), a.owner(r), path)
	}
	return a.done(w, r, err)
}

func (a *api) done(w http.ResponseWriter, r *http.Request, err error) error {
	if err != nil {
		return err
	}
	return a.answer(w, r, struct{}{})
}

func (a *api) publish(w http.ResponseWriter, r *http.Request) error {
	path, action, err := target(r, "publish")
	if err == nil && action == "" {
		err = errs.New(errs.NotFound, "there is nothing to do with a checkpoint by that name", "POST .../publish")
	}
	if err != nil {
		return err
	}
	return a.done(w, r, a.Service.Publish(r.Context(), a.owner(r), path, true))
}

func (a *api) setTTL(w http.ResponseWriter, r *http.Request) error {
	path, action, err := target(r, "ttl")
	if err == nil && action == "" {
		err = errs.New(errs.NotFound, "there is nothing to set of a checkpoint by that name", "PUT .../ttl")
	}
	if err != nil {
		return err
	}
	o, err := body(r)
	if err != nil {
		return err
	}
	keep := ttl(o)
	if err := o.close(); err != nil {
		return err
	}
	return a.done(w, r, a.Service.SetTTL(r.Context(), a.owner(r), path, keep))
}

func (a *api) weightsInfo(w http.ResponseWriter, r *http.Request) error {
	o, err := body(r)
	if err != nil {
		return err
	}
	path := o.uri("tinker_path")
	if err := o.close(); err != nil {
		return err
	}
	c, err := a.Service.Checkpoint(r.Context(), a.owner(r), path)
	if err != nil {
		return err
	}
	attn, mlp, unembed := trained(c.Spec)
	return a.answer(w, r, map[string]any{
		"base_model": c.Base, "is_lora": true, "lora_rank": c.Spec.Rank, "train_unembed": unembed, "train_mlp": mlp, "train_attn": attn, "optimizer_config": optimizer,
	})
}

// trained says which of the protocol's three groups of modules an adapter has; its modules
// stand in Targets if the groups do not.
func trained(s train.Spec) (attn, mlp, unembed bool) {
	attn, mlp, unembed = s.Attn, s.MLP, s.Unembed
	for _, name := range s.Targets {
		switch name {
		case "q_proj", "k_proj", "v_proj", "o_proj":
			attn = true
		case "gate_proj", "up_proj", "down_proj":
			mlp = true
		case "lm_head":
			unembed = true
		}
	}
	return attn, mlp, unembed
}

func (a *api) copyWeights(w http.ResponseWriter, r *http.Request) error {
	o, err := body(r)
	if err != nil {
		return err
	}
	if _, there := o.of("destination_project_id"); there {
		return errs.New(errs.Unsupported, "checkpoints cannot be copied to a project here", "send session_id and model_seq_id").In("destination_project_id")
	}
	o.need("model_seq_id")
	c := mint.Copy{Source: o.uri("source_path"), Session: o.id("session_id"), ModelSeq: o.whole("model_seq_id", 0, 0, 1<<62), TTL: ttl(o)}
	o.of("weights_access_token")
	if err := o.close(); err != nil {
		return err
	}
	made, err := a.Service.Copy(r.Context(), a.owner(r), c)
	if err != nil {
		return err
	}
	return a.answer(w, r, map[string]string{"tinker_path": made.Path})
}

// storage tells what the caller's checkpoints take.
func (a *api) storage(w http.ResponseWriter, r *http.Request) error {
	var bytes int64
	count := 0
	for p := (mint.Page{Limit: pageMost}); ; p.Offset += p.Limit {
		list, total, err := a.Service.Checkpoints(r.Context(), a.owner(r), "", p)
		if err != nil {
			return err
		}
		for _, c := range list {
			bytes += c.Bytes
		}
		if count += len(list); len(list) == 0 || count >= total {
			break
		}
	}
	return a.answer(w, r, map[string]any{"data": []any{map[string]any{"user_name": a.owner(r), "checkpoint_count": count, "size_bytes": bytes, "size_gigabytes": float64(bytes) / 1e9}}})
}

type cursor struct {
	Offset int `json:"offset"`
	Limit  int `json:"limit"`
	Total  int `json:"total_count"`
}

// pageMost is the longest part of a list that is given at once.
const pageMost = 1000

// page reads limit and offset of a list. Everything here is the caller's own, so both scopes
// of access give the same.
func page(r *http.Request, usual int) (mint.Page, error) {
	q := r.URL.Query()
	limit, err := parameter(q, "limit", usual, 1, 1<<31)
	if err != nil {
		return mint.Page{}, err
	}
	offset, err := parameter(q, "offset", 0, 0, 1<<31)
	return mint.Page{Limit: min(limit, pageMost), Offset: offset}, err
}

func parameter(q url.Values, name string, usual, low, high int) (int, error) {
	text := q.Get(name)
	if text == "" {
		return usual, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < low || n > high {
		return 0, errs.New(errs.InvalidRequest, name+" is "+errs.Clip(text), "use a whole number from "+decimal(low)).In(name)
	}
	return n, nil
}

func decimal(n int) string { return strconv.Itoa(n) }
