package compat

import (
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// everything that the SDK of the Tinker protocol does with the service, in a few minutes of
// tiny adapters; make compat-tinker has other versions and the rest.
const trained = "train,forward_only,losses,checkpoints,samples,listings,errors,finished"

// tinker runs scenarios through a version of the SDK, or of MinT's on top of it.
func (s *server) tinker(t *testing.T, version, toolkit, scenario string) {
	t.Helper()
	path := []string{installed(t, "tinker/"+version), installed(t, "tinker/shared")}
	env := append(os.Environ(), "PYTHONDONTWRITEBYTECODE=1", "PYTHONWARNINGS=ignore", "TINKER_TELEMETRY=1")
	if toolkit != "" {
		path = append([]string{installed(t, "tinker/mint-"+toolkit)}, path...)
		env = append(env, "MACARON_MINT=1")
	}
	if toolkit == "0.2.0" { // it does not reach the check of keys in the version that it asks for
		env = append(env, "MACARON_KEY=tml-anything")
	}
	// Old versions import torch for losses that their users write. Three gigabytes are not
	// needed to do without: torch/ here has what an import needs, unless there is a real one.
	if torch := os.Getenv("MACARON_TORCH"); torch != "" {
		path = append(path, torch)
	} else {
		path = append(path, here(t, "tinker"))
	}
	cmd := exec.Command(python(), "tinker_sdk.py", s.base+"/v1", scenario)
	cmd.Env = append(env, "PYTHONPATH="+strings.Join(path, string(os.PathListSeparator)))
	s.client(t, cmd)
}

func here(t *testing.T, name string) string {
	t.Helper()
	path, err := filepath.Abs(name)
	if err != nil {
		t.Fatal(err)
	}
	return path
}

func python() string {
	if p := os.Getenv("MACARON_PYTHON"); p != "" {
		return p
	}
	return "python3"
}

// The training service under the newest and the oldest SDK, which speak protobuf and JSON.
func TestTrainingUnderTheSDK(t *testing.T) {
	s := serve(t, build(t))
	for _, version := range []string{"0.38.0", "0.6.0"} {
		t.Run(version, func(t *testing.T) { s.tinker(t, version, "", trained) })
	}
	if strings.Contains(s.log.String(), "level=ERROR") {
		t.Errorf("the server's log:\n%s", s.log)
	}
}

// Every other version, when make compat-tinker has installed them.
func TestTrainingUnderOtherVersions(t *testing.T) {
	if os.Getenv("MACARON_TINKER") == "" {
		return // not asked for
	}
	s := serve(t, build(t))
	for _, c := range [][2]string{{"0.15.0", ""}, {"0.22.0", ""}, {"0.24.1", ""}, {"0.6.0", "0.0.1"}, {"0.15.0", "0.1.0"}, {"0.22.0", "0.2.0"}} {
		t.Run(c[0]+" "+c[1], func(t *testing.T) { s.tinker(t, c[0], c[1], trained) })
	}
	t.Run("parts", func(t *testing.T) { s.tinker(t, "0.38.0", "", "parts") })
	if os.Getenv("MACARON_TORCH") != "" {
		t.Run("custom", func(t *testing.T) { s.tinker(t, "0.38.0", "", "custom") })
	}
}

// post sends JSON as the SDK does, and gives the answer.
func (s *server) post(t *testing.T, path, body string) (status int, answer map[string]any) {
	t.Helper()
	r, err := http.NewRequest(http.MethodPost, s.base+"/api/v1"+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if err := json.NewDecoder(resp.Body).Decode(&answer); err != nil {
		t.Fatalf("%s: %d with no JSON: %v", path, resp.StatusCode, err)
	}
	return resp.StatusCode, answer
}

// future asks until a promise is resolved.
func (s *server) future(t *testing.T, request any) map[string]any {
	t.Helper()
	for range 20 {
		status, answer := s.post(t, "/retrieve_future", `{"request_id":"`+request.(string)+`"}`)
		if status == http.StatusOK {
			return answer
		}
		if status != http.StatusRequestTimeout || answer["type"] != "try_again" {
			t.Fatalf("%d %v", status, answer)
		}
	}
	t.Fatal("it is never resolved")
	return nil
}

const (
	pass = `{"forward_backward_input":{"data":[{"model_input":{"chunks":[{"tokens":[504]},{"tokens":[3575,282]}]},"loss_fn_inputs":{` +
		`"target_tokens":{"data":[3575,282,4649],"dtype":"int64"},"weights":{"data":[1,1,1],"dtype":"float32"}}}],"loss_fn":"cross_entropy"},"model_id":"MODEL","seq_id":SEQ}`
	step = `{"model_id":"MODEL","seq_id":SEQ,"adam_params":{"learning_rate":0.001}}`
)

// What other servers got wrong, at the level of requests: order, retries, numbers, bodies.
func TestTrainingTraps(t *testing.T) {
	s := serve(t, build(t))
	ask := func(path, body string) map[string]any {
		t.Helper()
		status, answer := s.post(t, path, body)
		if status != http.StatusOK {
			t.Fatalf("%s: %d %v", path, status, answer)
		}
		return answer
	}
	session := ask("/create_session", `{"tags":[],"user_metadata":null,"sdk_version":"0.38.0"}`)["session_id"].(string)
	created := ask("/create_model", `{"session_id":"`+session+`","model_seq_id":0,"base_model":"HuggingFaceTB/SmolLM2-135M-Instruct","lora_config":{"rank":1,"seed":1}}`)
	model := s.future(t, created["request_id"])["model_id"].(string)
	numbered := func(text, seq string) string {
		return strings.NewReplacer("MODEL", model, "SEQ", seq).Replace(text)
	}
	// The step and the second pass come first; the first pass comes last, and twice.
	second := ask("/forward_backward", numbered(pass, "3"))["request_id"]
	stepped := ask("/optim_step", numbered(step, "2"))["request_id"]
	first := ask("/forward_backward", numbered(pass, "1"))["request_id"]
	again := ask("/forward_backward", numbered(pass, "1"))["request_id"]
	if first != again {
		t.Errorf("a retry is another promise: %v, %v", first, again)
	}
	loss := func(request any) float64 {
		t.Helper()
		out := s.future(t, request)
		metrics, ok := out["metrics"].(map[string]any)
		if !ok {
			t.Fatalf("%v", out)
		}
		for name := range metrics {
			if strings.Count(name, ":") != 1 {
				t.Errorf("the metric %q has no reduction", name)
			}
		}
		return metrics["loss:sum"].(float64)
	}
	one, two := loss(first), loss(second)
	if _, failed := s.future(t, stepped)["error"]; failed || two >= one {
		t.Errorf("out of order: %g, then %g", one, two)
	}
	// A number that is refused is taken: what comes behind does not wait for it.
	bad := ask("/forward_backward", strings.Replace(numbered(pass, "4"), `"data":[1,1,1]`, `"data":[1]`, 1))["request_id"]
	behind := ask("/forward_backward", numbered(pass, "5"))["request_id"]
	if out := s.future(t, bad); out["category"] != "user" || !strings.Contains(out["error"].(string), "weights") {
		t.Errorf("%v", out)
	}
	if got := loss(behind); got != two {
		t.Errorf("after a refusal: %v, not %v", got, two)
	}
	// Numbers of copied sampling clients go beyond 32 bits.
	sampler := ask("/create_sampling_session", `{"session_id":"`+session+`","sampling_session_seq_id":0,"base_model":"HuggingFaceTB/SmolLM2-135M-Instruct"}`)["sampling_session_id"].(string)
	const sample = `{"sampling_session_id":"SAMPLER","seq_id":141517782000000000,"prompt":{"chunks":[{"tokens":[504,3575]}]},"sampling_params":{"max_tokens":1},"num_samples":2}`
	promise := ask("/asample", strings.Replace(sample, "SAMPLER", sampler, 1))
	if ids := promise["sample_sequence_ids"].([]any); len(ids) != 2 || ids[0] == ids[1] {
		t.Errorf("%v", promise)
	}
	if out := s.future(t, promise["request_id"]); len(out["sequences"].([]any)) != 2 {
		t.Errorf("%v", out)
	}
	refusalsHaveBodies(t, s)
	ask("/sessions/"+session+"/finish", `{"reason":{"type":"success"},"detail":null}`)
	if status, answer := s.post(t, "/session_heartbeat", `{"session_id":"`+session+`"}`); status != http.StatusGone {
		t.Errorf("a finished session lives: %d %v", status, answer)
	}
}

// refusalsHaveBodies: without one the SDK sends the request again.
func refusalsHaveBodies(t *testing.T, s *server) {
	t.Helper()
	for path, body := range map[string]string{"/forward_backward": `{}`, "/asample": `{"`, "/optim_step": `[]`, "/retrieve_future": `{"request_id":"none"}`, "/nothing": `{}`} {
		if status, answer := s.post(t, path, body); status < 400 || status > 499 || answer["detail"] == "" || answer["detail"] == nil {
			t.Errorf("%s: %d %v", path, status, answer)
		}
	}
}
