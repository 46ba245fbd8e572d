package pass_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"macaron/internal/mint/pass"
	"macaron/internal/wire/tinker"
)

const (
	proto   = "application/x-protobuf"
	jsonFwd = `{"forward_input":{"data":[{"model_input":{"chunks":[{"tokens":[1,2]}]},"loss_fn_inputs":{"target_tokens":{"data":[2,3],"dtype":"int64"}}}],"loss_fn":"cross_entropy"},"model_id":"s:train:0","seq_id":1}`
	output  = `{"loss_fn_output_type":"X","loss_fn_outputs":[{"logprobs":{"data":[-1.5,-0.25],"dtype":"float32","shape":[2]},"elementwise_loss":{"data":[1,2],"dtype":"float32"}}],"metrics":{"loss:sum":1.75}}`
)

// Bodies go as they came but for names; those of others, and credentials, do not.
func TestNamesAreTheBackendsAndNothingElseIs(t *testing.T) {
	var seen []string
	f, _ := scripted(t, t.TempDir(), pass.Auto, func(w http.ResponseWriter, r *http.Request) {
		b := bodyOf(r)
		seen = append(seen, r.URL.Path+" "+b)
		switch r.URL.Path {
		case "create_session":
			reply(w, 200, `{"session_id":"far-session"}`)
		case "create_model":
			reply(w, 200, `{"request_id":"far-create","model_id":"far-model"}`)
		case "optim_step", "load_weights":
			reply(w, 200, `{"request_id":"far-step"}`)
		default:
			reply(w, 200, `{"metrics":{"a:sum":1},"type":"optim_step"}`)
		}
	})
	f.got(t, "create_model", `{"session_id":"s","model_seq_id":3,"base_model":"far/Base","new_field":{"n":1.10}}`)
	if b := seen[1]; !strings.Contains(b, `"new_field":{"n":1.10}`) || !strings.Contains(b, `"session_id":"far-session"`) {
		t.Errorf("create_model went as %s", b)
	}
	step := f.got(t, "optim_step", `{"model_id":"s:train:3","seq_id":1,"adam_params":{"x":1e-4}}`)
	if again := f.got(t, "optim_step", `{"model_id":"s:train:3","seq_id":1,"adam_params":{"x":1e-4}}`); step["request_id"] != "s:train:3:1" || again["request_id"] != step["request_id"] {
		t.Errorf("%v, and again %v", step, again)
	}
	if n := len(seen); n != 3 || !strings.Contains(seen[2], `"model_id":"far-model"`) || !strings.Contains(seen[2], `{"x":1e-4}`) {
		t.Errorf("%d went: %q", n, seen)
	}
	if v := f.got(t, "retrieve_future", `{"request_id":"s:train:3:1"}`); v["type"] != "optim_step" {
		t.Errorf("%v", v)
	}
	for path, body := range map[string]string{ // whose the backend's own words, or another tenant's, are: nobody's here
		"optim_step": `{"model_id":"far-model","seq_id":2}`, "retrieve_future": `{"request_id":"far-step"}`, "get_info": `{"model_id":"far-model"}`,
	} {
		if status, _, b := f.ask(t, path, body); status != http.StatusTeapot {
			t.Errorf("%s %s: %d %s", path, body, status, b)
		}
	}
	if status, _, _ := f.ask(t, "retrieve_future", `{"request_id":"s:train:3:1"}`, "", "p"); status != http.StatusTeapot {
		t.Error("another tenant reads a result")
	}
	n := len(seen)
	if status, _, b := f.ask(t, "save_weights", `{"model_id":"s:train:3","seq_id":3,"model_path":"tinker://far-other/weights/x"}`); status != http.StatusNotFound || len(seen) != n {
		t.Errorf("a path of the backend's own went there: %d %s", status, b)
	}
	f.got(t, "load_weights", `{"model_id":"s:train:3","seq_id":3,"path":"tinker://far-other/weights/x"}`)
	if b := seen[len(seen)-1]; strings.Contains(b, "far-other") || !strings.Contains(b, "tinker://none/") {
		t.Errorf("somebody's checkpoint was loaded: %s", b)
	}
}

// A backend of JSON alone, under a client of protobuf alone.
func TestABackendOfJSONAlone(t *testing.T) {
	request, err := os.ReadFile("../../wire/tinker/testdata/forward_0.38.0.pb")
	if err != nil {
		t.Fatal(err)
	}
	if request, err = (tinker.Relay{}).WithModel(request, "s:train:0"); err != nil {
		t.Fatal(err)
	}
	var paths []string
	for _, dialect := range []pass.Dialect{pass.JSON, pass.Auto} {
		paths = nil
		f, _ := scripted(t, t.TempDir(), dialect, script(func(w http.ResponseWriter, r *http.Request) {
			b := bodyOf(r)
			switch r.URL.Path {
			case "forward", "forward_backward":
				if paths = append(paths, r.URL.Path); r.Header.Get("Content-Type") != "application/json" {
					reply(w, 422, `{"detail":"this is no JSON"}`)
					return
				}
				if !strings.Contains(b, `"model_id":"far-model"`) || !strings.Contains(b, `"target_tokens":{"data":[`) {
					t.Errorf("it went as %s", b)
				}
				reply(w, 200, `{"request_id":"far-1"}`)
			default:
				reply(w, 200, output)
			}
		}))
		f.model(t)
		id := f.got(t, "forward_backward", string(request))["request_id"]
		status, header, b := f.ask(t, "retrieve_future", fmt.Sprintf(`{"request_id":%q}`, id), proto)
		if status != 200 || header.Get("Content-Type") != proto {
			t.Fatalf("%d %v %s", status, header, b)
		}
		text, err := (tinker.Relay{}).ResultToJSON("forward_backward", b)
		if err != nil || !strings.Contains(string(text), `"elementwise_loss":{"data":[1,2]`) || !strings.Contains(string(text), `"data":[-1.5,-0.25]`) || !strings.Contains(string(text), `"loss:sum":1.75`) {
			t.Errorf("%v %s", err, text)
		}
		if want := map[pass.Dialect]int{pass.JSON: 1, pass.Auto: 2}[dialect]; len(paths) != want {
			t.Errorf("%s: it was asked %v", dialect, paths)
		}
	}
}

// A backend of protobuf alone, under a client of JSON alone: forward is a flag there.
func TestABackendOfProtobufAlone(t *testing.T) {
	for _, dialect := range []pass.Dialect{pass.Proto, pass.Auto} {
		f, _ := scripted(t, t.TempDir(), dialect, script(func(w http.ResponseWriter, r *http.Request) {
			b := bodyOf(r)
			switch {
			case r.URL.Path == "forward":
				reply(w, 404, `{"detail":"Not Found"}`)
			case r.URL.Path == "forward_backward":
				text, only, err := (tinker.Relay{}).ForwardToJSON([]byte(b))
				if err != nil || !only || !strings.Contains(string(text), `"far-model"`) {
					t.Errorf("%v %v %s", err, only, text)
				}
				reply(w, 200, `{"request_id":"far-1"}`)
			default:
				out, err := (tinker.Relay{}).ResultToProto("forward", []byte(output))
				if err != nil {
					t.Error(err)
				}
				w.Header().Set("Content-Type", proto)
				_, _ = w.Write(out)
			}
		}))
		f.model(t)
		id := f.got(t, "forward", jsonFwd)["request_id"]
		v := f.got(t, "retrieve_future", fmt.Sprintf(`{"request_id":%q}`, id), "application/json")
		if m, ok := v["metrics"].(map[string]any); !ok || m["loss:sum"] != 1.75 {
			t.Errorf("%s: %v", dialect, v)
		}
	}
}

// What a backend says while there is no outcome, or instead of one.
func TestPolls(t *testing.T) {
	var n atomic.Int64
	var answers []func(http.ResponseWriter)
	var mu sync.Mutex // a poll that was left may come late
	set := func(to []func(http.ResponseWriter)) {
		mu.Lock()
		defer mu.Unlock()
		answers = to
		n.Store(0)
	}
	say := func(status int, body string) func(http.ResponseWriter) {
		return func(w http.ResponseWriter) { reply(w, status, body) }
	}
	server := backed(t, script(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "optim_step" {
			reply(w, 200, `{"request_id":"far-1"}`)
			return
		}
		mu.Lock()
		answer := answers[min(int(n.Add(1)), len(answers))-1]
		mu.Unlock()
		answer(w)
	}))
	begun := func(poll time.Duration) *front {
		f := before(t, t.TempDir(), pass.Auto, server.URL, poll)
		f.model(t)
		f.got(t, "optim_step", `{"model_id":"s:train:0","seq_id":1}`)
		return f
	}
	f, hasty := begun(long), begun(short)
	over := make(chan struct{})
	defer close(over)
	const done = `{"metrics":{},"type":"optim_step"}`
	for name, c := range map[string]struct {
		answers []func(http.ResponseWriter)
		status  int
		says    string
	}{
		"408 and then a result":         {[]func(http.ResponseWriter){say(408, `{"type":"try_again","queue_state":"active"}`), say(200, done)}, 200, "optim_step"},
		"200 try_again, and then":       {[]func(http.ResponseWriter){say(200, `{"type":"try_again","queue_state":"active"}`), say(200, done)}, 200, "optim_step"},
		"never":                         {[]func(http.ResponseWriter){say(200, `{"type":"try_again","request_id":"far-1","queue_state":"paused_capacity"}`)}, 408, "s:train:0:1\",\"queue_state\":\"paused_capacity"},
		"500 and then a result":         {[]func(http.ResponseWriter){say(500, ``), say(200, done)}, 408, "answers 500"},
		"429":                           {[]func(http.ResponseWriter){say(429, `{}`)}, 408, "paused_rate_limit"},
		"held for longer than here":     {[]func(http.ResponseWriter){func(http.ResponseWriter) { <-over }}, 408, "try_again"},
		"a promise that it has lost":    {[]func(http.ResponseWriter){say(404, `{"detail":"Future not found"}`)}, 200, `"category":"server"`},
		"a sampler that is gone":        {[]func(http.ResponseWriter){say(410, `{"detail":"gone"}`)}, 410, "gone"},
		"its own key is not taken":      {[]func(http.ResponseWriter){say(401, `{"detail":"who?"}`)}, 502, "does not take this server's key"},
		"big, as the client asks first": {[]func(http.ResponseWriter){say(200, `{"status":"complete_metadata","request_id":"far-1","response_payload_size":9}`)}, 200, `"request_id":"s:train:0:1"`},
		"z no JSON":                     {[]func(http.ResponseWriter){say(200, `<html>`)}, 502, "no JSON"},
	} {
		set(c.answers)
		f := f
		if c.status == 408 { // pending for as long as is waited
			f = hasty
		}
		if status, _, b := f.ask(t, "retrieve_future", `{"request_id":"s:train:0:1"}`); status != c.status || !strings.Contains(string(b), c.says) {
			t.Errorf("%s: %d %s", name, status, b)
		}
	}
	set([]func(http.ResponseWriter){say(200, `{"error":"bad advantages","category":"user"}`), say(404, `{}`)})
	for range 2 { // the second time it is not asked
		if v := f.got(t, "retrieve_future", `{"request_id":"s:train:0:1"}`); v["error"] != "bad advantages" || v["category"] != "user" {
			t.Errorf("a failure is %v", v)
		}
	}
}

// A backend that goes away in the middle of a future: it is pending until it is back, also
// under another process of ours; after some failures nothing is sent for a while.
func TestABackendThatIsAway(t *testing.T) {
	home, down := t.TempDir(), atomic.Bool{}
	var asked atomic.Int64
	backend := script(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "optim_step" {
			reply(w, 200, `{"request_id":"far-1"}`)
			return
		}
		reply(w, 200, `{"metrics":{},"type":"optim_step"}`)
	})
	var url string
	t.Run("down", func(t *testing.T) {
		url = backed(t, func(w http.ResponseWriter, r *http.Request) {
			if down.Load() {
				asked.Add(1)
				panic(http.ErrAbortHandler)
			}
			backend(w, r)
		}).URL
		f := before(t, home, pass.Auto, url, short)
		f.model(t)
		f.got(t, "optim_step", `{"model_id":"s:train:0","seq_id":1}`)
		down.Store(true)
		if status, _, b := f.ask(t, "retrieve_future", `{"request_id":"s:train:0:1"}`); status != 408 || !strings.Contains(string(b), "does not answer") {
			t.Errorf("%d %s", status, b)
		}
		for range 12 {
			status, header, b := f.ask(t, "optim_step", `{"model_id":"s:train:0","seq_id":2}`)
			if status != 503 && status != 502 || header.Get("Retry-After") == "" || strings.Contains(string(b), strings.TrimPrefix(url, "http://")) {
				t.Errorf("%d %v %s", status, header, b)
			}
		}
		if n := asked.Load(); n > 8 {
			t.Errorf("a backend that is down was asked %d times", n)
		}
	})
	f, _ := scripted(t, home, pass.Auto, backend)
	if v := f.got(t, "retrieve_future", `{"request_id":"s:train:0:1"}`); v["type"] != "optim_step" {
		t.Errorf("after both are back: %v", v)
	}
	if status, _, _ := f.ask(t, "create_model", `{"session_id":"ended","model_seq_id":0,"base_model":"far/Base"}`); status != http.StatusGone {
		t.Errorf("a session that is over: %d", status)
	}
}

// An archive is fetched from the backend's own host alone.
func TestArchivesComeFromTheBackend(t *testing.T) {
	other := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { t.Errorf("somebody else was asked for %s", r.URL) }))
	defer other.Close()
	var asked atomic.Int64
	f, _ := scripted(t, t.TempDir(), pass.Auto, script(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path == "save_weights_for_sampler":
			reply(w, 200, `{"request_id":"far-1"}`)
		case strings.HasSuffix(r.URL.Path, "/archive"):
			asked.Add(1)
			w.Header().Set("Location", other.URL+"/latest/meta-data")
			w.WriteHeader(302)
		default:
			reply(w, 200, `{"path":"tinker://far-run/sampler_weights/one","type":"save_weights_for_sampler"}`)
		}
	}))
	f.model(t)
	f.got(t, "save_weights_for_sampler", `{"model_id":"s:train:0","seq_id":1,"path":"one"}`)
	if v := f.got(t, "retrieve_future", `{"request_id":"s:train:0:1"}`); v["path"] != "tinker://s:train:0/sampler_weights/one" {
		t.Errorf("%v", v)
	}
	for end := time.Now().Add(time.Minute); asked.Load() == 0 && time.Now().Before(end); {
		time.Sleep(10 * time.Millisecond)
	}
	if err := f.Close(); err != nil { // it waits for what is under way
		t.Fatal(err)
	}
	if asked.Load() != 1 || len(f.shelf.all) != 0 {
		t.Errorf("asked %d times, %d revisions", asked.Load(), len(f.shelf.all))
	}
}
