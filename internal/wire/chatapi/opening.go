package chatapi

import (
	"sync"
	"time"
)

// patience is how long the status line waits for the prompt to be read. Until then
// an error has a status of its own; after it the line must be kept alive.
const patience = 10 * time.Second

// Opening holds a stream's first bytes back until the first event, or until patience
// ends. It also is the stream's lock, since patience ends on a goroutine of its own.
type Opening struct {
	Begin    func() error  // sends the status line and the first event
	Patience time.Duration // 0: 10 s

	mu    sync.Mutex
	state string // "", chosen, begun, over
	timer *time.Timer
}

// Early implements turn.Early: the first bytes name the turn.
func (o *Opening) Early() {}

// Chosen starts the wait, after set was called; nothing is sent yet.
func (o *Opening) Chosen(set func()) {
	o.mu.Lock()
	defer o.mu.Unlock()
	set()
	o.state = "chosen"
	if o.Patience == 0 {
		o.Patience = patience
	}
	o.timer = time.AfterFunc(o.Patience, func() {
		o.mu.Lock()
		defer o.mu.Unlock()
		_ = o.begin() // kept by the writer for the next event
	})
}

func (o *Opening) begin() error {
	if o.state != "chosen" {
		return nil
	}
	o.state = "begun"
	return o.Begin()
}

// Set changes under the lock what Begin will read.
func (o *Opening) Set(set func()) {
	o.mu.Lock()
	defer o.mu.Unlock()
	set()
}

// Send begins the stream if need be and calls send.
func (o *Opening) Send(send func() error) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if err := o.begin(); err != nil {
		return err
	}
	return send()
}

// Abort ends the wait and reports whether the status line is out already.
func (o *Opening) Abort() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.timer != nil {
		o.timer.Stop()
	}
	out := o.state == "begun" || o.state == "over"
	o.state = "over"
	return out
}
