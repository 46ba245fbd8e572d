package vllm

import (
	"net/http"
	"sync"
	"testing"
)

// While a name is given to other weights again and again, every answer under it is that of
// the one or of the other revision, whole, and none is lost.
func TestAdaptersAreReplacedUnderLoad(t *testing.T) {
	r := newRig(t, nil)
	body := `{"model":"one","prompt":"hello there","temperature":0,"max_tokens":16,"ignore_eos":true}`
	text := func() string { return r.ask("/v1/completions", body).Choices[0].Text }
	load := func(path string) {
		t.Helper()
		if status, said := r.post("/v1/load_lora_adapter", `{"lora_name":"one","lora_path":"`+path+`","load_inplace":true}`); status != http.StatusOK {
			t.Fatalf("%d %s", status, said)
		}
	}
	known := map[string]string{text(): "one"}
	load("three")
	if known[text()] = "three"; len(known) != 2 {
		t.Fatal("two adapters say the same")
	}
	stop := make(chan struct{})
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				status, said := r.post("/v1/completions", body)
				if status != http.StatusOK {
					t.Errorf("%d %s", status, said)
					return
				}
				if got := read(t, []byte(said)).Choices[0].Text; known[got] == "" {
					t.Errorf("%q is the answer of no revision", got)
					return
				}
			}
		})
	}
	for range 20 {
		load("one")
		load("three")
	}
	close(stop)
	wg.Wait()
	if known[text()] != "three" {
		t.Error("the last one loaded does not answer")
	}
}
