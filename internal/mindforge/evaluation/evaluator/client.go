package evaluator

import (
	"bufio"
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"io"
	"os/exec"
	"sync"
	"time"

	"macaron/internal/errs"
	"macaron/internal/mindforge"
	"macaron/internal/mindforge/discovery"
)

// Client is the loop's side: a process that it started, and what it believes of its answers.
type Client struct {
	mu       sync.Mutex
	verifier Verifier
	cmd      *exec.Cmd
	in       io.WriteCloser
	out      *bufio.Reader
	last     int64
	broken   error
}

// Ruling is a decision that was checked, with the envelope for the ledger.
type Ruling struct {
	mindforge.Decision
	Envelope []byte
}

// Start starts a process that serves, and greets it. key is the one that the evaluator was made with: a process of another
// key, or under another contract than the verifier's, is refused. The command's environment
// is what the caller gave it; nothing of the loop's own gets in.
func Start(cmd *exec.Cmd, v Verifier) (*Client, error) {
	if cmd.Env == nil {
		cmd.Env = []string{}
	}
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, errs.Wrap(errs.UpstreamUnavailable, err, "the evaluator cannot be started", "")
	}
	c := &Client{verifier: v, cmd: cmd, in: in, out: bufio.NewReaderSize(out, 64<<10)}
	if err := c.greet(); err != nil {
		_ = cmd.Process.Kill() // whoever that is does not know when to end
		_ = c.Close()          // the first error is told
		return nil, err
	}
	return c, nil
}

// patience is how long a directory that another evaluator has is waited for. One whose loop was
// killed hears that, and ends in a moment.
const patience = 30 * time.Second

// Await starts a process as Start does, and again while another one has its directory, for half a minute.
func Await(ctx context.Context, command func() *exec.Cmd, v Verifier) (*Client, error) {
	for late := time.Now().Add(patience); ; {
		c, err := Start(command(), v)
		if errs.CodeOf(err) != errs.HomeLocked || time.Now().After(late) {
			return c, err
		}
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// greet checks who answers.
func (c *Client) greet() error {
	a, err := c.call(request{Op: "hello"})
	if err != nil {
		return err
	}
	h := a.Hello
	if h == nil || !c.verifier.Key.Equal(ed25519.PublicKey(h.Key)) {
		return forged("a process of another key answers")
	}
	if c.verifier.Evaluation == "" {
		c.verifier.Evaluation = h.Evaluation
	}
	if h.Evaluation != c.verifier.Evaluation {
		return errs.New(errs.ChecksumMismatch, "the evaluation contract is not the one that this loop began under", "restore it, or begin a new run under the new one")
	}
	if h.Sequence < c.verifier.Last {
		return forged("its account is older than its answers: it was put back")
	}
	c.verifier.Last = h.Sequence
	return nil
}

// Evaluation is the contract that decisions are made under, and Last the sequence of the last answer.
func (c *Client) Verifier() Verifier {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.verifier
}

// Decide asks, and believes nothing but a fresh answer of the evaluator's key. *Waiting says that
// there is none yet.
func (c *Client) Decide(ctx context.Context, stage mindforge.Stage, champion, candidate Arm, approvals ...[]byte) (Ruling, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	stop := context.AfterFunc(ctx, func() { _ = c.cmd.Process.Kill() }) // the account goes on from where it was
	defer stop()
	q := Ask{Nonce: newNonce(), Stage: stage, Champion: champion, Candidate: candidate, Approvals: approvals}
	a, err := c.call(request{Op: "decide", Ask: &q})
	if ctx.Err() != nil {
		return Ruling{}, context.Cause(ctx)
	}
	if err == nil && a.Waiting != nil {
		err = a.Waiting
	}
	if err != nil {
		return Ruling{}, err
	}
	s, err := c.verifier.Fresh(a.Envelope, q)
	return Ruling{s.Decision, a.Envelope}, err
}

// Has implements discovery.Sealed. An answer is no decision and is not signed: nothing is promoted
// by it.
func (c *Client) Has(ctx context.Context, q discovery.Question) (bool, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if ctx.Err() != nil {
		return false, context.Cause(ctx)
	}
	a, err := c.call(request{Op: "sealed", Sealed: &q})
	if err == nil && a.Sealed == nil {
		err = forged("it answers another question")
	}
	return err == nil && *a.Sealed, err
}

func newNonce() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails (crypto/rand)
	return hex.EncodeToString(b[:])
}

// call sends one line and reads one.
func (c *Client) call(q request) (response, error) {
	if c.broken != nil {
		return response{}, c.broken
	}
	c.last++
	q.ID = c.last
	text, err := json.Marshal(q)
	if err != nil {
		return response{}, err
	}
	if len(text) > MaxLine {
		return response{}, errs.Newf(errs.TooLarge, "a question is longer than %d bytes", MaxLine)
	}
	var a response
	if _, err = c.in.Write(append(text, '\n')); err == nil {
		var line []byte
		if line, err = readLine(c.out); err == nil {
			err = decode(line, &a)
		}
	}
	if err == nil && a.ID != q.ID && a.Error == nil {
		err = forged("it answers another question")
	}
	if err != nil {
		c.broken = errs.Wrap(errs.UpstreamUnavailable, err, "the evaluator has ended or says what nobody can read", "start it again: it goes on where it was")
		return a, c.broken
	}
	if a.Error != nil {
		return a, errs.New(a.Error.Code, errs.Clip(a.Error.Message), errs.Clip(a.Error.Next))
	}
	return a, nil
}

// grace is how long a process that is asked for nothing more has to end; it keeps what it answers
// before it answers, so that a kill loses nothing.
const grace = 20 * time.Second

// Close ends the process.
func (c *Client) Close() error {
	err := c.in.Close()
	late := time.AfterFunc(grace, func() { _ = c.cmd.Process.Kill() })
	defer late.Stop()
	if wait := c.cmd.Wait(); err == nil {
		err = wait
	}
	return err
}
