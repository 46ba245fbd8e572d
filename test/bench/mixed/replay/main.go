// Command replay sends one file of requests to a server, some at once, and tells how
// many tokens came back in what time. It speaks to llama-server and to servers with
// vLLM's interface, so that both answer the same requests:
//
//	replay -url http://127.0.0.1:8090 -server llama -adapters mixed requests.jsonl
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	"os"
	"slices"
	"sync"
	"time"
)

// options say what is sent.
type options struct {
	url, server, adapters string
	names                 int // of adapters, L0 and on
	tokens, at            int
}

// outcome is what one request took.
type outcome struct {
	prompt, cached, output int
	seconds                float64
	text                   string
}

// summary is the printed result.
type summary struct {
	Server   string   `json:"server"`
	Adapters string   `json:"adapters"`
	Requests int      `json:"requests"`
	Wall     float64  `json:"wall_s"`
	Speed    float64  `json:"tokens_per_s"` // generated, all requests together
	Prompt   int      `json:"prompt_tokens"`
	Cached   int      `json:"cached_tokens"`
	Output   int      `json:"output_tokens"`
	P50      float64  `json:"p50_s"`
	Max      float64  `json:"max_s"`
	Texts    []string `json:"texts,omitempty"`
}

func main() {
	var o options
	flag.StringVar(&o.url, "url", "http://127.0.0.1:8090", "server")
	flag.StringVar(&o.server, "server", "vllm", "its interface: vllm or llama")
	flag.StringVar(&o.adapters, "adapters", "none", "none, one, or mixed: request i on adapter i mod 4")
	flag.IntVar(&o.names, "names", 4, "adapters loaded, L0 and on")
	flag.IntVar(&o.tokens, "tokens", 64, "tokens to generate per request")
	flag.IntVar(&o.at, "at", 8, "requests at once")
	texts := flag.Bool("texts", false, "print the answers too")
	flag.Parse()
	s, err := o.run(flag.Arg(0))
	if err != nil {
		fmt.Fprintln(os.Stderr, "replay:", err)
		os.Exit(1)
	}
	if !*texts {
		s.Texts = nil
	}
	out, err := json.Marshal(s)
	if err != nil {
		fmt.Fprintln(os.Stderr, "replay:", err)
		os.Exit(1)
	}
	fmt.Println(string(out))
}

// run sends all requests, o.at at once.
func (o options) run(path string) (summary, error) {
	prompts, err := read(path)
	if err != nil {
		return summary{}, err
	}
	outcomes, errors := make([]outcome, len(prompts)), make([]error, len(prompts))
	next := make(chan int)
	var wg sync.WaitGroup
	start := time.Now()
	for range o.at {
		wg.Go(func() {
			for i := range next {
				outcomes[i], errors[i] = o.send(i, prompts[i])
			}
		})
	}
	for i := range prompts {
		next <- i
	}
	close(next)
	wg.Wait()
	s := summary{Server: o.server, Adapters: o.adapters, Requests: len(prompts), Wall: time.Since(start).Seconds()}
	for _, err := range errors {
		if err != nil {
			return s, err
		}
	}
	return s, s.sum(outcomes, o.tokens)
}

func (s *summary) sum(outcomes []outcome, tokens int) error {
	var took []float64
	for i, r := range outcomes {
		if r.output != tokens {
			return fmt.Errorf("request %d gave %d tokens, not %d", i, r.output, tokens)
		}
		s.Prompt, s.Cached, s.Output = s.Prompt+r.prompt, s.Cached+r.cached, s.Output+r.output
		s.Texts, took = append(s.Texts, r.text), append(took, r.seconds)
	}
	slices.Sort(took)
	s.Speed, s.P50, s.Max = float64(s.Output)/s.Wall, took[len(took)/2], took[len(took)-1]
	return nil
}

func read(path string) (prompts []string, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var r struct{ Prompt string }
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			return nil, err
		}
		prompts = append(prompts, r.Prompt)
	}
	return prompts, nil
}

// body is request i in the words of the server.
func (o options) body(i int, prompt string) map[string]any {
	b := map[string]any{"prompt": prompt, "max_tokens": o.tokens, "temperature": 0, "ignore_eos": true, "model": "base"}
	adapter := -1
	switch o.adapters {
	case "one":
		adapter = 0
	case "mixed":
		adapter = i % o.names
	}
	if o.server == "llama" {
		b["cache_prompt"] = true
		var all []map[string]any
		for a := range o.names {
			scale := 0.0
			if a == adapter {
				scale = 1
			}
			all = append(all, map[string]any{"id": a, "scale": scale})
		}
		b["lora"] = all
	} else if adapter >= 0 {
		b["model"] = fmt.Sprint("L", adapter)
	}
	return b
}

func (o options) send(i int, prompt string) (r outcome, err error) {
	raw, err := json.Marshal(o.body(i, prompt))
	if err != nil {
		return r, err
	}
	start := time.Now()
	answer, err := http.Post(o.url+"/v1/completions", "application/json", bytes.NewReader(raw))
	if err != nil {
		return r, err
	}
	defer answer.Body.Close()
	var got struct {
		Choices []struct{ Text string }
		Usage   struct {
			Prompt  int `json:"prompt_tokens"`
			Output  int `json:"completion_tokens"`
			Details struct {
				Cached int `json:"cached_tokens"`
			} `json:"prompt_tokens_details"`
		}
		Error json.RawMessage
	}
	if err := json.NewDecoder(answer.Body).Decode(&got); err != nil {
		return r, err
	}
	if answer.StatusCode != http.StatusOK || len(got.Choices) != 1 {
		return r, fmt.Errorf("request %d: status %d: %s", i, answer.StatusCode, got.Error)
	}
	u := got.Usage
	return outcome{u.Prompt, u.Details.Cached, u.Output, time.Since(start).Seconds(), got.Choices[0].Text}, nil
}
