package main

import (
	"bytes"
	"fmt"
	"strings"
	"sync/atomic"
)

// mark begins a nonce, which is as long as nonceBytes says.
const (
	mark       = "nonce-"
	nonceBytes = len(mark) + 10
)

var nonces atomic.Int64

func newNonce() string { return fmt.Sprintf("%s%010d", mark, nonces.Add(1)) }

// nonceIn is the last nonce of a body.
func nonceIn(body []byte) string {
	i := bytes.LastIndex(body, []byte(mark))
	if i < 0 || i+nonceBytes > len(body) {
		return "none"
	}
	return string(body[i : i+nonceBytes])
}

// answer is what the upstream says to a message with that nonce: fifteen words.
func answer(nonce string) string {
	return nonce + " is answered in fifteen words of which not one says anything about it at all."
}

// filler is about 700 bytes of a user's words.
var filler = strings.Repeat("please go on with the list where we left it and keep the order ", 11)

// talk is a conversation as a client sends it: all messages, each time.
type talk struct {
	messages []byte // encoded, without the brackets
	turns    int    // since it began
	nonce    string // of the open turn
}

// longHistory is how many bytes of messages a long conversation begins with.
const longHistory = 114_000

// begin starts a conversation, with the history of one that was held elsewhere if long.
func begin(long bool) *talk {
	t := &talk{}
	for long && len(t.messages) < longHistory {
		t.say("user", "Earlier: "+filler)
		t.say("assistant", "Then: "+filler)
	}
	return t
}

// say adds a message; text needs no escapes.
func (t *talk) say(role, text string) {
	if len(t.messages) > 0 {
		t.messages = append(t.messages, ',')
	}
	t.messages = fmt.Appendf(t.messages, `{"role":"%s","content":"%s"}`, role, text)
}

// ask adds the user's next message and gives the body of the request.
func (t *talk) ask(model string, stream bool) []byte {
	t.nonce = newNonce()
	t.say("user", filler+t.nonce)
	t.turns++
	return fmt.Appendf(make([]byte, 0, len(t.messages)+100), `{"model":"%s","stream":%t,"messages":[%s]}`, model, stream, t.messages)
}

// hear adds the answer to the open turn.
func (t *talk) hear() { t.say("assistant", answer(t.nonce)) }

// told reports whether a response, whole or streamed, is the open turn's and no other's.
func (t *talk) told(response []byte, stream bool) error {
	if n := nonceIn(response); n != t.nonce {
		return fmt.Errorf("asked with %s, answered with %s: %.200s", t.nonce, n, response)
	}
	if stream && !bytes.Contains(response, []byte("data: [DONE]")) {
		return fmt.Errorf("a stream broke off: %.200s", response)
	}
	return nil
}
