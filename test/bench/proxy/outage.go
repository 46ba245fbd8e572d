package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"
)

// grace is how long after the upstream has come back a turn may still be refused: probes and
// breakers notice within it.
const grace = 15 * time.Second

// outages kill the upstream and start it again at its address, and know when.
type outages struct {
	b       *bench
	address string
	every   time.Duration // 0: there are none

	mu      sync.Mutex
	down    bool
	back    time.Time            // when it came back last
	ended   time.Time            // when the first turn after that ended, zero until then
	refused map[string]int       // by what was said
	slow    []time.Duration      // from each return to the first turn that ended
	strange map[string]time.Time // what was refused although the upstream was there
}

// startOutages starts the upstream.
func (b *bench) startOutages(every time.Duration) (*outages, error) {
	address, err := freeAddress()
	if err != nil {
		return nil, err
	}
	o := &outages{b: b, address: address, every: every, refused: map[string]int{}, strange: map[string]time.Time{}}
	return o, o.start()
}

func (o *outages) start() (err error) {
	o.b.upstream, err = o.b.selfAt(o.address, "upstream", "/health", "-word", o.b.word.String())
	return err
}

// happen kills the upstream at each interval, with SIGKILL and in the middle of its streams,
// and leaves it away for a quarter of the interval. At the end it is there.
func (o *outages) happen(ctx context.Context) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(o.every * 3 / 4):
		}
		o.mu.Lock()
		o.down = true
		o.mu.Unlock()
		if err := o.b.upstream.cmd.Process.Kill(); err != nil {
			return err
		}
		_ = o.b.upstream.cmd.Wait() // it was killed
		time.Sleep(o.every / 4)
		if err := o.start(); err != nil {
			return err
		}
		o.mu.Lock()
		o.down, o.back, o.ended = false, time.Now(), time.Time{}
		o.mu.Unlock()
	}
}

// hold holds a turn, every fourth one whole, and asks again for as long as the proxy says that
// the engine is not there. Anything else that is not the answer is an error.
func (o *outages) hold(ctx context.Context, c *client, t *talk) error {
	for {
		before, turns := len(t.messages), t.turns
		begun := time.Now()
		said, err := c.try(t, o.every == 0 || t.turns%4 != 3)
		switch {
		case err != nil:
			return err
		case said == "":
			o.heard()
			return nil
		case o.every == 0:
			return fmt.Errorf("refused: %s", said)
		}
		o.note(said, begun)
		t.messages, t.turns = t.messages[:before], turns
		select {
		case <-ctx.Done():
			return errEnded
		case <-time.After(time.Second):
		}
	}
}

// errEnded says that the soak ended while a turn was refused.
var errEnded = errors.New("the soak has ended")

// try asks once. said is a refusal in the API's words, of which a client knows that it may ask
// again; the talk then lacks the answer.
func (c *client) try(t *talk, stream bool) (said string, err error) {
	resp, err := c.http.Post(c.url, "application/json", bytes.NewReader(t.ask(c.model, stream)))
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return "", err
	}
	switch {
	case resp.StatusCode != http.StatusOK && resp.StatusCode != http.StatusTooManyRequests && resp.StatusCode < 502:
		return "", fmt.Errorf("status %d: %.300s", resp.StatusCode, body)
	case resp.StatusCode != http.StatusOK:
		said = fmt.Sprintf("%d %s", resp.StatusCode, code(body))
		if resp.Header.Get("Retry-After") != "" {
			said += comeBack
		}
		return said, nil
	case stream && bytes.Contains(body, []byte(`data: {"error":`)):
		return "200 stream, " + code(body), nil
	}
	err = t.told(body, stream)
	t.hear()
	return "", err
}

// comeBack marks a refusal with a time to come back.
const comeBack = " with Retry-After"

// code is the error's code in a body.
func code(body []byte) string {
	_, rest, _ := strings.Cut(string(body), `"code":"`)
	word, _, _ := strings.Cut(rest, `"`)
	return word
}

func (o *outages) heard() {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.down && !o.back.IsZero() && o.ended.IsZero() {
		o.ended = time.Now()
		o.slow = append(o.slow, o.ended.Sub(o.back))
	}
}

// note counts a refusal. One of a turn that began well after the upstream was back is strange.
func (o *outages) note(said string, begun time.Time) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.refused[said]++
	if !o.down && begun.After(o.back.Add(grace)) {
		o.strange[said] = begun
	}
}

// atRest are goroutines and open files of a subject that serves nobody.
func (s *subject) atRest() (r [2]float64, err error) {
	s.client.http.CloseIdleConnections()
	time.Sleep(2 * time.Second)
	for i, name := range []string{"go_goroutines", "process_open_fds"} {
		if r[i], err = s.metric(name, ""); err != nil {
			return r, err
		}
	}
	return r, nil
}

// judge holds a soak with outages against what must hold: nobody is refused while the upstream is
// there, the log has the turns of which a client saw the end and no others, nothing is left behind.
func (o *outages) judge(s *subject, before [2]float64, turns int64, all []sample) error {
	after, err := s.atRest()
	if err != nil {
		return err
	}
	delivered, err := s.metric("macaron_turns_total", `status="delivered"`)
	if err != nil {
		return err
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	fmt.Printf("%d outages: %d turns, refused and asked again: %v\n", len(o.slow), turns, o.refused)
	fmt.Printf("from the upstream's return to the first turn that ended: %v\n", o.slow)
	fmt.Printf("at rest before and after: goroutines %.0f, %.0f, open files %.0f, %.0f\n", before[0], after[0], before[1], after[1])
	mid, end := all[len(all)/2], all[len(all)-1]
	fmt.Printf("live heap %.1f MB in the middle, %.1f MB at the end; CPU %.2f ms a turn\n", mid.heap, end.heap, 1000*(end.cpu-all[0].cpu)/float64(end.turns-all[0].turns))
	switch want := float64(turns + chainsHeld*chainTurns); {
	case len(o.strange) > 0:
		return fmt.Errorf("refused although the upstream was there: %v", o.strange)
	case delivered != want:
		return fmt.Errorf("the log has %.0f delivered turns, clients saw the end of %.0f", delivered, want)
	case after[0] > before[0]+20 || after[1] > before[1]+20:
		return errors.New("goroutines or files are left behind")
	}
	return nil
}
