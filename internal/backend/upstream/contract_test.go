package upstream

import (
	"flag"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"macaron/internal/backend/upstream/upstreamtest"
)

// A real server instead of a recording: test/upstream/live.sh gives these.
var (
	liveURL  = flag.String("live-url", "", "address of a real server to hold to the contract")
	liveKind = flag.String("live-kind", "", "its dialect")
	liveTold = flag.String("live-told", "", "what to call it in the recording")
	record   = flag.Bool("record", false, "renew the recording of it")
)

var kindFacts = map[string]upstreamtest.Facts{
	"llama-server": {Tools: false, Cached: true, Exact: true},
	"vllm":         {Tools: true, Cached: true, Exact: true},
	"macaron":      {Tools: true, Cached: true, Exact: true},
}

// Every recording of a real server is played back: our requests are still those that it
// had, and its answers mean what the turn relies on.
func TestTheContractOverRecordings(t *testing.T) {
	files, err := filepath.Glob("testdata/exchanges/*.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("there are no recordings: %v", err)
	}
	for _, file := range files {
		kind := strings.TrimSuffix(filepath.Base(file), ".json")
		t.Run(kind, func(t *testing.T) {
			url, _ := upstreamtest.Replay(t, file)
			b := New(Config{URL: url, Dialect: Auto})
			defer b.Close()
			upstreamtest.Contract(t, b, kindFacts[kind])
			if f := b.last.Load(); f == nil || recognise(f).name != kind {
				t.Errorf("taken for %+v", f)
			}
		})
	}
}

// The contract over a server that runs, when there is one.
func TestTheContractLive(t *testing.T) {
	if *liveURL == "" {
		return // make upstream-live
	}
	rec := &upstreamtest.Recorder{Next: http.DefaultTransport}
	b := New(Config{URL: *liveURL, Dialect: Auto, Timeout: 5 * time.Minute, Client: &http.Client{Transport: rec}})
	defer http.DefaultClient.CloseIdleConnections()
	upstreamtest.Contract(t, b, kindFacts[*liveKind])
	if *record && !t.Failed() {
		if err := rec.Save(filepath.Join("testdata", "exchanges", *liveKind+".json"), *liveTold); err != nil {
			t.Fatal(err)
		}
	}
}
