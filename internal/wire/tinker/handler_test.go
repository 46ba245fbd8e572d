package tinker

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"math"
	"mime/multipart"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/zstd"

	"macaron/internal/errs"
	"macaron/internal/mint"
	"macaron/internal/train"
)

// What each body becomes. Fields that are left out have the protocol's defaults.
func TestRequestsAreDecoded(t *testing.T) {
	seed := uint64(3)
	for _, c := range []struct {
		path, body string
		want       any
	}{
		{"/create_session", `{"tags":["a"],"user_metadata":{"k":"v"},"sdk_version":"0.38.0","project_id":null,"type":"create_session"}`,
			mint.NewSession{Tags: []string{"a"}, Metadata: []byte(`{"k":"v"}`), SDK: "0.38.0"}},
		{"/create_model", `{"session_id":"s","model_seq_id":0,"base_model":"b","lora_config":{"rank":4,"seed":3,"train_unembed":false,"train_mlp":true,"train_attn":true},"optimizer_config":{"type":"adamw"}}`,
			mint.CreateModel{Session: "s", Base: "b", Spec: train.Spec{Rank: 4, Alpha: 32, Seed: 3, Attn: true, MLP: true}}},
		{"/create_model", `{"session_id":"s","model_seq_id":2,"base_model":"b","lora_config":{"rank":8}}`,
			mint.CreateModel{Session: "s", Seq: 2, Base: "b", Spec: train.Spec{Rank: 8, Alpha: 32, Attn: true, MLP: true, Unembed: true}, Unseeded: true}},
		{"/optim_step", `{"model_id":"m","seq_id":2,"adam_params":{"learning_rate":0.5}}`,
			mint.OptimStep{Model: "m", Seq: 2, Adam: train.Adam{LearningRate: 0.5, Beta1: 0.9, Beta2: 0.95, Eps: 1e-12}}},
		{"/optim_step", `{"model_id":"m","adam_params":{"learning_rate":1,"beta1":0.1,"beta2":0.2,"eps":1e-8,"weight_decay":0.3,"grad_clip_norm":0.4},"type":"optim_step"}`,
			mint.OptimStep{Model: "m", Seq: mint.NoSeq, Adam: train.Adam{LearningRate: 1, Beta1: 0.1, Beta2: 0.2, Eps: 1e-8, WeightDecay: 0.3, GradClipNorm: 0.4}}},
		{"/save_weights", `{"model_id":"m","path":"n","seq_id":3,"ttl_seconds":7200,"overwrite":true,"user_metadata":{"a":"b"}}`,
			mint.Save{Model: "m", Seq: 3, Kind: mint.Training, Name: "n", TTL: 2 * time.Hour, Overwrite: true, Metadata: []byte(`{"a":"b"}`)}},
		{"/save_weights_for_sampler", `{"model_id":"m","path":"n","seq_id":3}`, mint.Save{Model: "m", Seq: 3, Kind: mint.Sampling, Name: "n"}},
		{"/save_weights_for_sampler", `{"model_id":"m","sampling_session_seq_id":0,"kind":"inflight","seq_id":3}`, mint.SaveSampler{Model: "m", Seq: 3, Inflight: true}},
		{"/save_weights_external", `{"model_id":"m","path":"n","seq_id":3}`, mint.Save{Model: "m", Seq: 3, Kind: mint.External, Name: "n"}},
		{"/load_weights", `{"model_id":"m","seq_id":4,"path":"mint://r/weights/n","optimizer":true}`, mint.Load{Model: "m", Seq: 4, Path: "tinker://r/weights/n", Optimizer: true}},
		{"/load_weights", `{"session_id":"s","model_seq_id":1,"path":"tinker://r/weights/n","optimizer":false,"base_model":"b"}`, mint.Load{Session: "s", ModelSeq: 1, Path: "tinker://r/weights/n", Base: "b"}},
		{"/create_sampling_session", `{"session_id":"s","sampling_session_seq_id":1,"base_model":"b"}`, mint.NewSampler{Session: "s", Seq: 1, Base: "b"}},
		{"/asample", `{"prompt":{"chunks":[{"tokens":[1]},{"tokens":[2,3],"type":"encoded_text"}]},"sampling_params":{"max_tokens":5,"seed":3,"stop":["x"]},"sampling_session_id":"p","seq_id":141517782000000000,"num_samples":2,"prompt_logprobs":true,"topk_prompt_logprobs":4}`,
			mint.Sample{Sampler: "p", Seq: 141517782000000000, N: 2, Prompt: []int32{1, 2, 3}, MaxTokens: 5, Seed: &seed, Stop: mint.Stop{Texts: []string{"x"}}, Temperature: 1, TopK: -1, TopP: 1, PromptLogprobs: true, PromptTop: 4}},
		{"/asample", `{"prompt":{"chunks":[{"tokens":[1]}]},"sampling_params":{"stop":[],"temperature":0},"base_model":"b"}`,
			mint.Sample{Base: "b", Seq: mint.NoSeq, N: 1, Prompt: []int32{1}, Stop: mint.Stop{None: true}, TopK: -1, TopP: 1}},
		{"/asample", `{"prompt":{"chunks":[{"tokens":[1]}]},"sampling_params":{"top_p":0},"base_model":"b"}`, // the likeliest token, where 0 of the engine is off
			mint.Sample{Base: "b", Seq: mint.NoSeq, N: 1, Prompt: []int32{1}, Temperature: 1, TopK: -1, TopP: math.SmallestNonzeroFloat64}},
		{"/asample", `{"prompt":{"chunks":[{"tokens":[1,2]}]},"sampling_params":{"stop":[7,8]},"sampling_session_id":"p","seq_id":0,"target_prompt_logprobs":{"data":[9],"dtype":"int64","shape":[1,3],"sparse_crow_indices":[0,1],"sparse_col_indices":[1]}}`,
			mint.Sample{Sampler: "p", N: 1, Prompt: []int32{1, 2}, Stop: mint.Stop{Tokens: []int32{7, 8}}, Temperature: 1, TopK: -1, TopP: 1, Targets: &train.Tensor{Ints: []int64{-1, 9, -1}, Shape: []int64{1, 3}}}},
		{"/copy_weights", `{"source_path":"tinker://r/weights/n","session_id":"s","model_seq_id":1}`, mint.Copy{Source: "tinker://r/weights/n", Session: "s", ModelSeq: 1}},
		{"/sessions/s/finish", `{"reason":{"type":"errored"},"detail":"why"}`, [3]string{"s", "errored", "why"}},
		{"/training_runs/s:train:0/checkpoints/weights/n/publish", `{}`, "publish tinker://s:train:0/weights/n true"},
		{"/retrieve_futures", `{"target":{"type":"sampling_session","sampling_session_id":"p","cloned_sampler_id":0},"prev_cursor":4,"timeout":100,"retrieved_request_ids":["a"]}`, maxWait},
		{"/unload_model", `{"model_id":"m"}`, "m"},
		{"/cancel_future", `{"request_id":"r"}`, "r"},
		{"/session_heartbeat", `{"session_id":"s","type":"session_heartbeat"}`, "s"},
	} {
		d := newDesk(t)
		d.object(http.MethodPost, c.path, c.body)
		if diff := cmp.Diff(c.want, d.asked); diff != "" || d.owner != "acme" {
			t.Errorf("%s %s for %q: %s", c.path, c.body, d.owner, diff)
		}
	}
}

func TestOtherMethods(t *testing.T) {
	d := newDesk(t)
	for _, c := range [][4]string{
		{"DELETE", "/training_runs/s:train:0/checkpoints/sampler_weights/n", "", "delete tinker://s:train:0/sampler_weights/n"},
		{"DELETE", "/training_runs/s:train:0/checkpoints/weights/n/publish", "", "publish tinker://s:train:0/weights/n false"},
		{"DELETE", "/training_runs/s:train:0/checkpoints/weights%2Fn", "", "delete tinker://s:train:0/weights/n"},
		{"PUT", "/training_runs/s:train:0/checkpoints/weights/n/ttl", `{"ttl_seconds":3600}`, "ttl tinker://s:train:0/weights/n 1h0m0s"},
		{"PUT", "/training_runs/s:train:0/checkpoints/weights/n/ttl", `{"ttl_seconds":null}`, "ttl tinker://s:train:0/weights/n 0s"},
	} {
		d.object(c[0], c[1], c[2])
		if d.asked != c[3] {
			t.Errorf("%s %s asks for %q", c[0], c[1], d.asked)
		}
	}
}

// Refusals have a code, a status and always a body.
func TestRefusals(t *testing.T) {
	datum := func(inputs string) string {
		return `{"forward_backward_input":{"data":[{"model_input":{"chunks":[{"tokens":[1,2]}]},"loss_fn_inputs":{` + inputs + `}}],"loss_fn":"cross_entropy"},"model_id":"m","seq_id":1}`
	}
	for _, c := range []struct {
		path, body, says string
		status           int
	}{
		{"/forward_backward", datum(`"weights":{"data":[1,2,3],"dtype":"float32","shape":[2]}`), "has 3 values for the shape [2]", 400},
		{"/forward_backward", datum(`"weights":{"data":[1],"dtype":"float32","shape":[9223372036854775807,3]}`), "at most", 400},
		{"/forward_backward", datum(`"weights":{"data":[1],"dtype":"float32","shape":[4294967296,4294967296,0]}`), "at most", 400},
		{"/forward_backward", datum(`"weights":{"data":[1],"dtype":"float64","shape":[1]}`), "float32 or int64", 400},
		{"/forward_backward", datum(`"weights":{"data":[1e39],"dtype":"float32","shape":[1]}`), "+Inf", 400},
		{"/forward_backward", datum(`"weights":{"data":[1,2],"dtype":"float32","shape":[2,2],"sparse_crow_indices":[0,2,1],"sparse_col_indices":[0,1]}`), "sparse", 400},
		{"/forward_backward", datum(`"weights":{"data":[1,2],"dtype":"float32","shape":[1,2],"sparse_crow_indices":[0,2],"sparse_col_indices":[1,0]}`), "do not rise", 400},
		{"/forward_backward", strings.Replace(datum(""), "[1,2]", "[1,-2]", 1), "no list of numbers", 400},
		{"/forward_backward", strings.Replace(datum(""), "[1,2]", "[]", 1), "no tokens", 400},
		{"/forward_backward", strings.Replace(datum(""), "[1,2]", "[1.5]", 1), "no list of numbers", 400},
		{"/forward_backward", strings.Replace(datum(""), `{"tokens":[1,2]}`, `{"type":"image","data":"","format":"png"}`, 1), "image", 400},
		{"/forward_backward", strings.Replace(datum(""), `cross_entropy`, `custom`, 1), "forward_backward_custom", 400},
		{"/forward_backward", strings.Replace(datum(""), `"seq_id":1`, `"seq_id":1,"forward_only":true`, 1), "forward_only is not known", 400},
		{"/forward_backward", strings.Replace(datum(""), `"seq_id":1`, `"seq_id":9223372036854775808`, 1), "seq_id", 400},
		{"/forward_backward", `{"forward_backward_input":{"data":[],"loss_fn":"ppo"},"model_id":"m"}`, "no data", 400},
		{"/forward_backward", strings.Repeat(`{"a":`, 100) + "1" + strings.Repeat("}", 100), "nest", 400},
		{"/forward_backward", `{`, "", 400},
		{"/forward_backward", "\xff{}", "UTF-8", 400},
		{"/optim_step", `{"model_id":"m","optimizer_params":{"type":"dimuon","learning_rate":1}}`, "no optimizer dimuon", 400},
		{"/optim_step", `{"model_id":"m","adam_params":{"beta1":1}}`, "beta1", 400},
		{"/create_model", `{"session_id":"s","base_model":"b"}`, "model_seq_id is missing", 400},
		{"/create_model", `{"session_id":"s","model_seq_id":0,"base_model":"b","lora_config":{"rank":0}}`, "rank", 400},
		{"/save_weights", `{"model_id":"m","seq_id":1,"ttl_seconds":60}`, "ttl_seconds", 400},
		{"/save_weights_for_sampler", `{"model_id":"m","seq_id":1,"sampling_session_seq_id":0,"kind":"x"}`, "no kind x", 400},
		{"/load_weights", `{"model_id":"m","seq_id":1,"path":"tinker://a"}`, "no address", 400},
		{"/optim_step", `{"model_id":"m","seq_id":1,"adam_params":{"eps":-1}}`, "eps", 400},
		{"/load_weights", `{"model_id":"m","path":"tinker://a/b"}`, "no address", 400},
		{"/load_weights", `{"model_id":"m","path":"tinker://a/weights/b/c"}`, "no address", 400},
		{"/load_weights", `{"model_id":"m","path":"/etc/passwd"}`, "no address", 400},
		{"/asample", `{"prompt":{"chunks":[{"tokens":[1]}]},"sampling_params":{}}`, "names no sampler", 400},
		{"/asample", `{"prompt":{"chunks":[]},"sampling_params":{},"base_model":"b"}`, "no tokens", 400},
		{"/asample", `{"prompt":{"chunks":[{"tokens":[1]}]},"base_model":"b","num_samples":100000}`, "num_samples", 400},
		{"/asample", `{"prompt":{"chunks":[{"tokens":[1]}]},"base_model":"b","prompt_alt_tokens_k":2}`, "not drawn", 400},
		{"/create_custom_loss", `{}`, "client", 400},
		{"/sessions/s/finish", `{"reason":{"type":"bored"}}`, "bored", 400},
		{"/training_runs/r/checkpoints/nonsense", `{}`, "no checkpoint", 404},
		{"/no_such_thing", `{}`, "", 404},
	} {
		d := newDesk(t)
		w := d.call(http.MethodPost, c.path, c.body)
		if c.path == "/no_such_thing" { // by the mux; the app has its own answer before
			if w.Body.Len() == 0 || w.Code < 300 || d.asked != nil {
				t.Errorf("%s: %d %q", c.path, w.Code, w.Body)
			}
			continue
		}
		if r, numbered := d.asked.(mint.Refused); numbered { // a number is taken: the refusal is the future's
			if w.Code != 200 || r.Model != "m" || r.Seq != 1 || !strings.Contains(r.Why, c.says) {
				t.Errorf("%s %s: %d %+v", c.path, c.body, w.Code, r)
			}
			d.refuse, d.asked = errs.New(errs.NotFound, "no model", ""), nil
			w = d.call(http.MethodPost, c.path, c.body)
			d.asked = nil
		}
		if d.coded(w); w.Code != c.status || !strings.Contains(w.Body.String(), c.says) || d.asked != nil {
			t.Errorf("%s %s: %d %s", c.path, c.body, w.Code, w.Body)
		}
	}
}

// A future's states: the SDK tells them apart by status and by members.
func TestOutcomes(t *testing.T) {
	const ask = `{"request_id":"req","allow_metadata_only":true}`
	output := &mint.Result{Output: &found}
	for name, c := range map[string]struct {
		outcome mint.Outcome
		accept  string
		status  int
		want    string
	}{
		"pending": {mint.Outcome{Request: "req", State: mint.Pending, Queue: mint.PausedCapacity, Reason: "r"}, "", 408, `{"type":"try_again","request_id":"req","queue_state":"paused_capacity","queue_state_reason":"r"}`},
		"failed":  {mint.Outcome{Request: "req", State: mint.Failed, Failure: &mint.Failure{Message: "no", Category: mint.ByUser}}, protobuf, 200, `{"error":"no","category":"user"}`},
		"big":     {mint.Outcome{Request: "req", State: mint.Done, Op: mint.OpBack, Result: output, Bytes: 2 << 20}, protobuf, 200, `{"request_id":"req","response_payload_size":2097152,"status":"complete_metadata"}`},
		"proto":   {mint.Outcome{State: mint.Done, Op: mint.OpBack, Result: output}, protobuf, 200, string(protoOutput(&found))},
		"either":  {mint.Outcome{State: mint.Done, Op: mint.OpBack, Result: output}, protobuf + ", application/json", 200, string(jsonOutput(&found))},
		"old":     {mint.Outcome{State: mint.Done, Op: mint.OpForward, Result: output}, jsonType, 200, string(jsonOutput(&found))},
		"sample":  {mint.Outcome{State: mint.Done, Op: mint.OpSample, Result: &mint.Result{Sample: &said}}, protobuf, 200, string(protoSamples(&said))},
		"created": {mint.Outcome{State: mint.Done, Op: mint.OpCreate, Result: &mint.Result{Model: "m"}}, "", 200, `{"model_id":"m","type":"create_model"}`},
		"stepped": {mint.Outcome{State: mint.Done, Op: mint.OpStep, Result: &mint.Result{Metrics: map[string]float64{"lr:mean": 1}}}, "", 200, `{"metrics":{"lr:mean":1},"type":"optim_step"}`},
		"saved":   {mint.Outcome{State: mint.Done, Op: mint.OpSave, Result: &mint.Result{Path: "tinker://r/weights/n"}}, "", 200, `{"path":"tinker://r/weights/n","type":"save_weights"}`},
		"durable": {mint.Outcome{State: mint.Done, Op: mint.OpSave, Result: &mint.Result{Path: "tinker://r/sampler_weights/n"}}, "", 200, `{"path":"tinker://r/sampler_weights/n","type":"save_weights_for_sampler"}`},
		"sampler": {mint.Outcome{State: mint.Done, Op: mint.OpSampler, Result: &mint.Result{Sampler: "p"}}, "", 200, `{"path":null,"sampling_session_id":"p","type":"save_weights_for_sampler"}`},
		"loaded":  {mint.Outcome{State: mint.Done, Op: mint.OpLoad, Result: &mint.Result{Path: "tinker://r/weights/n", Model: "m"}}, "", 200, `{"path":"tinker://r/weights/n","model_id":"m","type":"load_weights"}`},
	} {
		d := newDesk(t)
		d.outcome = c.outcome
		w := d.call(http.MethodPost, "/retrieve_future", ask, "Accept", c.accept)
		proto := strings.HasPrefix(w.Header().Get("Content-Type"), protobuf)
		if w.Code != c.status || w.Body.String() != c.want || proto != (name == "proto" || name == "sample") {
			t.Errorf("%s: %d %s %s", name, w.Code, w.Header().Get("Content-Type"), w.Body)
		}
	}
}

func TestErrorsOfTheServiceKeepTheirStatus(t *testing.T) {
	for code, status := range map[errs.Code]int{errs.NotFound: 404, errs.Gone: 410, errs.Overloaded: 429, errs.Internal: 500, errs.BudgetSpent: 402} {
		d := newDesk(t)
		e := errs.New(code, "message", "next")
		e.RetryAfter = 1500 * time.Millisecond
		d.err = e
		w := d.call(http.MethodPost, "/session_heartbeat", `{"session_id":"s"}`)
		if d.coded(w) != code || w.Code != status || w.Header().Get("Retry-After") != "2" {
			t.Errorf("%s: %d %s", code, w.Code, w.Body)
		}
	}
}

// Bodies may be compressed, and bombs are cut off.
func TestCompressedBodies(t *testing.T) {
	z, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	proto := golden(t, "forward_0.38.0.pb")
	d := newDesk(t)
	if w := d.call(http.MethodPost, "/forward_backward", string(z.EncodeAll(proto, nil)), "Content-Type", protobuf, "Content-Encoding", "zstd"); w.Code != 200 {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	if diff := cmp.Diff(any(withOrigins()), d.asked); diff != "" {
		t.Error(diff)
	}
	bomb := z.EncodeAll(make([]byte, trainBytes+1), nil)
	if w := d.call(http.MethodPost, "/forward_backward", string(bomb), "Content-Type", protobuf, "Content-Encoding", "zstd"); d.coded(w) != errs.TooLarge {
		t.Errorf("%d bytes became %d: %d %s", len(bomb), trainBytes+1, w.Code, w.Body)
	}
	for encoding, body := range map[string]string{"zstd": "no", "gzip": "no", "br": "x"} {
		if w := d.call(http.MethodPost, "/forward_backward", body, "Content-Type", protobuf, "Content-Encoding", encoding); d.coded(w) != errs.InvalidRequest {
			t.Errorf("%s: %d %s", encoding, w.Code, w.Body)
		}
	}
	long, err := zstd.NewWriter(nil, zstd.WithWindowSize(2*zstdWindow))
	if err != nil {
		t.Fatal(err)
	}
	wide, damaged := long.EncodeAll(make([]byte, 3*zstdWindow), nil), z.EncodeAll(proto, nil)
	damaged[len(damaged)-1] ^= 1 // of the sum
	for body, want := range map[string]errs.Code{string(wide): errs.TooLarge, string(damaged): errs.InvalidRequest} {
		w := d.call(http.MethodPost, "/forward_backward", body, "Content-Type", protobuf, "Content-Encoding", "zstd")
		if d.coded(w) != want || strings.Contains(w.Body.String(), "did not arrive") {
			t.Errorf("what has arrived whole: %d %s", w.Code, w.Body)
		}
	}
	for _, kind := range []string{"", "text/plain", "application/x-www-form-urlencoded"} {
		if w := d.call(http.MethodPost, "/optim_step", `{"model_id":"m"}`, "Content-Type", kind); d.coded(w) != errs.InvalidRequest {
			t.Errorf("%q: %d %s", kind, w.Code, w.Body)
		}
	}
}

func TestLongAnswersAreCompressedIfAsked(t *testing.T) {
	long := &train.Output{Logprobs: []train.Tensor{{Floats: make([]float32, 10000), Shape: []int64{10000}}}}
	d := newDesk(t)
	d.outcome = mint.Outcome{State: mint.Done, Result: &mint.Result{Output: long}}
	for accepted, want := range map[string]string{"": "", "gzip, deflate": "gzip", "gzip, deflate, zstd": "zstd", "zstd;q=0, gzip;q=0.5": "gzip", "br": ""} {
		w := d.call(http.MethodPost, "/retrieve_future", `{"request_id":"r"}`, "Accept-Encoding", accepted)
		var plain io.Reader = w.Body
		var err error
		switch got := w.Header().Get("Content-Encoding"); {
		case got != want:
			t.Errorf("%q gives %q", accepted, got)
		case got == "gzip":
			plain, err = gzip.NewReader(w.Body)
		case got == "zstd":
			plain, err = zstd.NewReader(w.Body)
		}
		if err != nil {
			t.Fatal(err)
		}
		if b, err := io.ReadAll(plain); err != nil || string(b) != string(jsonOutput(long)) {
			t.Errorf("%q: %d bytes, %v", accepted, len(b), err)
		}
	}
}

// An address of a download is good without a key, for a while, and for nothing else.
func TestDownloads(t *testing.T) {
	d := newDesk(t)
	w := d.call(http.MethodGet, "/training_runs/s:train:0/checkpoints/external_weights/n/archive", "", "Accept", "application/gzip")
	place := w.Header().Get("Location")
	if w.Code != http.StatusFound || !strings.HasPrefix(place, "http://example.com/api/v1/download/") || w.Header().Get("Expires") != "Tue, 14 Nov 2023 22:28:20 GMT" {
		t.Fatalf("%d %v", w.Code, w.Header())
	}
	path := strings.TrimPrefix(place, "http://example.com"+Root)
	if w := d.call(http.MethodGet, path, "", "Owner", ""); w.Code != 200 || w.Header().Get("Content-Type") != "application/gzip" || w.Body.Len() < 50 {
		t.Errorf("%d %v", w.Code, w.Header())
	}
	urls := d.object(http.MethodGet, "/training_runs/s:train:0/checkpoints/external_weights/n/external_weights_urls", "")["urls"].(map[string]any)
	one := strings.TrimPrefix(urls["adapter_config.json"].(string), "http://example.com"+Root)
	if w := d.call(http.MethodGet, one, ""); len(urls) != 2 || w.Code != 200 || w.Body.String() != "adapter_config.json" {
		t.Errorf("%v %d %s", urls, w.Code, w.Body)
	}
	changed := strings.Replace(path, "/download/", "/download/A", 1)
	for name, p := range map[string]string{"changed": changed, "another file": strings.Replace(one, "adapter_config.json", "../x", 1), "none": "/download/x/archive.tar.gz"} {
		if w := d.call(http.MethodGet, p, ""); w.Code == 200 {
			t.Errorf("%s: %d", name, w.Code)
		}
	}
	d.clock.Add(shelf)
	if w := d.call(http.MethodGet, path, ""); d.coded(w) != errs.NotFound {
		t.Errorf("%d after its time", w.Code)
	}
}

func TestUpload(t *testing.T) {
	var b bytes.Buffer
	m := multipart.NewWriter(&b)
	if err := m.WriteField("name", "x"); err != nil {
		t.Fatal(err)
	}
	part, err := m.CreateFormFile("file", "a.tar.gz")
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprint(part, "the archive")
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	d := newDesk(t)
	w := d.call(http.MethodPost, "/checkpoints/upload", b.String(), "Content-Type", m.FormDataContentType())
	if w.Code != 200 || d.asked != "the archive" || !strings.Contains(w.Body.String(), "tinker://") {
		t.Errorf("%d %s %v", w.Code, w.Body, d.asked)
	}
	if w := d.call(http.MethodPost, "/checkpoints/upload", b.String()[:40], "Content-Type", m.FormDataContentType()); d.coded(w) != errs.InvalidRequest {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	if _, err := io.ReadAll(&bounded{strings.NewReader("four"), 3}); errs.CodeOf(err) != errs.TooLarge {
		t.Error(err)
	}
}

func TestListsAndSearch(t *testing.T) {
	d := newDesk(t)
	runs := d.object(http.MethodGet, "/training_runs?limit=5&offset=2&access_scope=owned", "")
	if runs["cursor"].(map[string]any)["total_count"] != 7.0 || d.asked != (mint.Page{Limit: 5, Offset: 2}) {
		t.Errorf("%v %v", runs, d.asked)
	}
	run := d.object(http.MethodGet, "/training_runs/s:train:0", "")
	last := run["last_checkpoint"].(map[string]any)
	if run["lora_rank"] != 4.0 || last["checkpoint_id"] != "external_weights/n" || last["user_metadata"].(map[string]any)["step"] != "3" || last["expires_at"] == nil {
		t.Errorf("%v", run)
	}
	for want, spec := range map[[3]bool]train.Spec{{true, true, false}: spec4, {false, true, true}: {Targets: []string{"down_proj", "lm_head"}}, {true, false, false}: {Targets: []string{"o_proj"}}} {
		if attn, mlp, unembed := trained(spec); want != [3]bool{attn, mlp, unembed} {
			t.Errorf("%+v: %v %v %v", spec, attn, mlp, unembed)
		}
	}
	found := d.object(http.MethodPost, "/sessions/search", `{"display_name":"NAME s2","owner":{"type":"own"},"statuses":[{"type":"active"}],"limit":50,"user_metadata":{"a":"b"}}`)
	if list := found["sessions"].([]any); len(list) != 1 || list[0].(map[string]any)["session_id"] != "s2" || found["next_cursor"] != nil {
		t.Errorf("%v", found)
	}
	first := d.object(http.MethodPost, "/sessions/search", `{"limit":1}`)
	next := d.object(http.MethodPost, "/sessions/search", `{"limit":2,"cursor":{"last_created_at":"2023-11-14T22:13:20Z","last_session_id":"s3"}}`)
	if first["next_cursor"].(map[string]any)["last_session_id"] != "s3" || len(next["sessions"].([]any)) != 2 {
		t.Errorf("%v %v", first, next)
	}
	for version, n := range map[string]int{"0.6.0": 0, "0.24.1": 0, "0.38.0": 1, "": 1} {
		w := d.call(http.MethodGet, "/training_runs/s:train:0/checkpoints", "", "X-Stainless-Package-Version", version)
		if got := strings.Count(w.Body.String(), "external_weights"); got != 2*n {
			t.Errorf("%s is told of external checkpoints %d times", version, got)
		}
	}
	for _, q := range []string{"limit=0", "limit=x", "offset=-1"} {
		if w := d.call(http.MethodGet, "/training_runs?"+q, ""); d.coded(w) != errs.InvalidRequest {
			t.Errorf("%s: %d", q, w.Code)
		}
	}
}
