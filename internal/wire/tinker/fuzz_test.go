package tinker

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"macaron/internal/errs"
	"macaron/internal/mint"
)

// checkTaken fails when a decoder has let something through that the trainer must not see.
func checkTaken(t *testing.T, f mint.Forward, err error) {
	t.Helper()
	if err != nil {
		if errs.CodeOf(err) == errs.Internal {
			t.Fatalf("uncoded: %v", err)
		}
		return
	}
	if f.Model == "" || len(f.Data) == 0 || f.Seq == 0 || f.Seq < mint.NoSeq {
		t.Fatalf("%+v was taken", f)
	}
	for _, d := range f.Data {
		if len(d.Tokens) == 0 {
			t.Fatal("a datum without tokens was taken")
		}
		for name, x := range d.Inputs {
			size := int64(1)
			for _, n := range x.Shape {
				size *= n
			}
			if size != int64(len(x.Floats)+len(x.Ints)) || len(x.Floats) > 0 && len(x.Ints) > 0 {
				t.Fatalf("%s: %d and %d values for %v", name, len(x.Floats), len(x.Ints), x.Shape)
			}
		}
	}
}

func FuzzForwardProto(f *testing.F) {
	for _, name := range []string{"forward_0.38.0.pb", "sparse.pb", "odd.pb"} {
		f.Add(golden(f, name))
	}
	f.Add([]byte{0x0a, 0xff, 0xff, 0xff, 0xff, 0x7f})
	f.Fuzz(func(t *testing.T, body []byte) {
		got, err := protoForward(body)
		checkTaken(t, got, err)
	})
}

func FuzzForwardJSON(f *testing.F) {
	for _, name := range []string{"forward_0.6.0.json", "forward_0.24.1.json"} {
		f.Add(golden(f, name))
	}
	f.Add([]byte(`{"forward_backward_input":{"data":[{"model_input":{"chunks":[{"tokens":[1]}]},"loss_fn_inputs":{"weights":{"data":[1],"dtype":"float32","shape":[2,3],"sparse_crow_indices":[0,1,1],"sparse_col_indices":[2]}}}],"loss_fn":"x"},"model_id":"m"}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		got, err := jsonForward(body, "forward_backward_input")
		checkTaken(t, got, err)
	})
}

func FuzzSample(f *testing.F) {
	for _, s := range []string{
		`{"prompt":{"chunks":[{"tokens":[1,2]}]},"sampling_params":{"stop":["a"],"seed":-1},"sampling_session_id":"s","seq_id":141517782000000000}`,
		`{"prompt":{"chunks":[{"tokens":[1,2,3]}]},"sampling_params":{"stop":[2]},"base_model":"b","target_prompt_logprobs":{"data":[5],"dtype":"int64","shape":[2,2],"sparse_crow_indices":[0,0,1],"sparse_col_indices":[1]}}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		s, err := jsonSample(body)
		if err != nil {
			if errs.CodeOf(err) == errs.Internal {
				t.Fatalf("uncoded: %v", err)
			}
			return
		}
		if len(s.Prompt) == 0 || s.N < 1 || s.N > sampleCount || s.Temperature < 0 || s.TopP < 0 || s.TopP > 1 {
			t.Fatalf("%s gives %+v", body, s)
		}
	})
}

// FuzzBodies has every endpoint read what comes: each answer has a body, and none is a
// failure of ours.
func FuzzBodies(f *testing.F) {
	h := newDesk(f).handler
	routes := Routes()
	for i, seed := range []string{`{"session_id":"s","model_seq_id":0,"base_model":"b"}`, `{"model_id":"m","seq_id":1,"adam_params":{}}`, `{"tinker_path":"tinker://r/weights/n"}`,
		`{"model_id":"m","path":"n","ttl_seconds":3600}`, `{"request_id":"r","allow_metadata_only":true}`, `{"target":{"type":"sampling_session","sampling_session_id":"s"},"timeout":1e300}`,
		`{"owner":{"type":"own"},"statuses":[{"type":"active"}],"cursor":{"last_session_id":"x"}}`, `{"ttl_seconds":null}`, `{"reason":{"type":"success"},"detail":null}`} {
		f.Add(uint8(i), seed)
	}
	f.Fuzz(func(t *testing.T, which uint8, body string) {
		method, path, _ := strings.Cut(routes[int(which)%len(routes)].Pattern, " ")
		r := httptest.NewRequest(method, names.Replace(path), strings.NewReader(body))
		r.Header.Set("Content-Type", jsonType)
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if w.Code >= 500 || w.Body.Len() == 0 {
			t.Fatalf("%s gives %d %q", path, w.Code, w.Body)
		}
	})
}

var names = strings.NewReplacer("{run}", "s:train:0", "{checkpoint...}", "weights/n", "{id}", "s", "{ticket}", "t", "{file...}", "f")

// FuzzZstd reads bodies that say they are compressed.
func FuzzZstd(f *testing.F) {
	w, err := zstd.NewWriter(nil)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(w.EncodeAll(bytes.Repeat([]byte("a"), 1000), nil))
	f.Add([]byte{0x28, 0xb5, 0x2f, 0xfd, 0xa4, 0xff, 0xff, 0xff, 0xff})
	f.Fuzz(func(t *testing.T, body []byte) {
		r, err := http.NewRequest(http.MethodPost, "/", bytes.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", protobuf)
		r.Header.Set("Content-Encoding", "zstd")
		c, err := read(r, 1<<16, true)
		if err == nil && len(c.bytes) > 1<<16 || err != nil && errs.CodeOf(err) == errs.Internal {
			t.Fatalf("%d bytes, %v", len(c.bytes), err)
		}
	})
}
