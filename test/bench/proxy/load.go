package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"sync"
	"time"
)

// shape is what a cell's requests look like.
type shape struct {
	Stream bool `json:"stream"`
	Long   bool `json:"long"`
}

// client sends turns to one subject.
type client struct {
	http  *http.Client
	url   string // of chat completions
	model string
}

func newClient(base, model string) *client {
	return &client{
		http: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 1024, DisableCompression: true}},
		url:  base + "/v1/chat/completions", model: model,
	}
}

// turn holds one turn of a conversation.
func (c *client) turn(ctx context.Context, t *talk, stream bool) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url, bytes.NewReader(t.ask(c.model, stream)))
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", "application/json")
	resp, err := c.http.Do(r)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode != http.StatusOK {
		err = fmt.Errorf("status %d: %.300s", resp.StatusCode, body)
	}
	if err == nil {
		err = t.told(body, stream)
	}
	t.hear()
	return err
}

// outcome is what a run of load saw.
type outcome struct {
	latencies []time.Duration
	failed    error
	took      time.Duration
}

func (o *outcome) quantile(q float64) time.Duration {
	if len(o.latencies) == 0 {
		return 0
	}
	slices.Sort(o.latencies)
	return o.latencies[int(q*float64(len(o.latencies)-1))]
}

// turnsOfATalk is after how many turns a client begins another long conversation.
const turnsOfATalk = 32

// closed keeps so many clients busy for a while, each with one turn at a time.
func (c *client) closed(at int, s shape, d time.Duration) *outcome {
	var all outcome
	var mu sync.Mutex
	var clients sync.WaitGroup
	begun := time.Now()
	for range at {
		clients.Go(func() {
			var own []time.Duration
			var failed error
			t := begin(s.Long)
			for failed == nil && time.Since(begun) < d {
				if !s.Long || t.turns == turnsOfATalk {
					t = begin(s.Long)
				}
				sent := time.Now()
				failed = c.turn(context.Background(), t, s.Stream)
				own = append(own, time.Since(sent))
			}
			mu.Lock()
			defer mu.Unlock()
			all.latencies, all.failed = append(all.latencies, own...), errors.Join(all.failed, failed)
		})
	}
	clients.Wait()
	all.took = time.Since(begun)
	return &all
}

// open sends so many turns a second, whether or not earlier ones have ended. Latency
// counts from when a turn was due.
func (c *client) open(rate int, s shape, d time.Duration) *outcome {
	var all outcome
	var mu sync.Mutex
	var turns sync.WaitGroup
	begun := time.Now()
	for i := range int(d.Seconds() * float64(rate)) {
		due := begun.Add(time.Duration(i) * time.Second / time.Duration(rate))
		time.Sleep(time.Until(due))
		turns.Go(func() {
			err := c.turn(context.Background(), begin(s.Long), s.Stream)
			mu.Lock()
			defer mu.Unlock()
			all.latencies, all.failed = append(all.latencies, time.Since(due)), errors.Join(all.failed, err)
		})
	}
	turns.Wait()
	all.took = time.Since(begun)
	return &all
}
