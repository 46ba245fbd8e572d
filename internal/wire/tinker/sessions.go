package tinker

import (
	"net/http"
	"time"

	"macaron/internal/errs"
	"macaron/internal/limits"
	"macaron/internal/mint"
)

func (a *api) createSession(w http.ResponseWriter, r *http.Request) error {
	o, err := body(r)
	if err != nil {
		return err
	}
	s := mint.NewSession{Metadata: o.metadata("user_metadata"), SDK: o.name("sdk_version"), Project: o.name("project_id"), DisplayName: o.text("display_name", limits.MetadataText)}
	for i, tag := range o.list("tags", limits.Metadata*4) {
		text, err := limits.Text("tags", tag, limits.NameBytes)
		if err != nil {
			return errs.As(err).In("tags[" + decimal(i) + "]")
		}
		s.Tags = append(s.Tags, text)
	}
	if err := o.close(); err != nil {
		return err
	}
	made, err := a.Service.CreateSession(r.Context(), a.owner(r), s)
	if err != nil {
		return err
	}
	return a.answer(w, r, map[string]string{"type": "create_session", "session_id": made.ID})
}

func (a *api) heartbeat(w http.ResponseWriter, r *http.Request) error {
	o, err := body(r)
	if err != nil {
		return err
	}
	id := o.id("session_id")
	if err := o.close(); err != nil {
		return err
	}
	if err := a.Service.Heartbeat(r.Context(), a.owner(r), id); err != nil {
		return err
	}
	return a.answer(w, r, map[string]string{"type": "session_heartbeat"})
}

// finish ends a session with {reason: {type}, detail}.
func (a *api) finish(w http.ResponseWriter, r *http.Request) error {
	o, err := body(r)
	if err != nil {
		return err
	}
	detail := o.text("detail", limits.SchemaBytes)
	reason := o.object("reason")
	why := mint.Reason(reason.name("type"))
	switch why {
	case mint.Success, mint.Errored, mint.Interrupted:
	case "":
		why = mint.Success
	default:
		o.fail(errs.New(errs.InvalidRequest, "there is no reason "+errs.Clip(string(why)), "use success, errored or interrupted").In("reason.type"))
	}
	o.fail(reason.close())
	if err := o.close(); err != nil {
		return err
	}
	if err := a.Service.Finish(r.Context(), a.owner(r), r.PathValue("id"), why, detail); err != nil {
		return err
	}
	return a.answer(w, r, struct{}{})
}

func (a *api) sessions(w http.ResponseWriter, r *http.Request) error {
	p, err := page(r, 20)
	if err != nil {
		return err
	}
	ids, _, err := a.Service.Sessions(r.Context(), a.owner(r), p)
	if err != nil {
		return err
	}
	return a.answer(w, r, map[string]any{"sessions": filled(ids)})
}

func (a *api) session(w http.ResponseWriter, r *http.Request) error {
	s, runs, samplers, err := a.Service.Session(r.Context(), a.owner(r), r.PathValue("id"))
	if err != nil {
		return err
	}
	v := map[string]any{"training_run_ids": filled(runs), "sampler_ids": filled(samplers)}
	if len(s.Metadata) > 0 {
		v["user_metadata"] = texts(s.Metadata)
	}
	if s.DisplayName != "" {
		v["display_name"] = s.DisplayName
	}
	return a.answer(w, r, v)
}

// project would move a session into a project. There are none here beyond its name.
func (a *api) project(http.ResponseWriter, *http.Request) error {
	return errs.New(errs.Unsupported, "sessions cannot be moved to another project here", "name the project when a session is created")
}

// trace would export the time line of a session.
func (a *api) trace(http.ResponseWriter, *http.Request) error {
	return errs.New(errs.Unsupported, "traces of sessions are not exported here", "the server's own traces go where traces.endpoint says")
}

// filled is a list that JSON writes as one even when it is empty.
func filled[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

// stamp is a time as the SDK reads it.
func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) }
