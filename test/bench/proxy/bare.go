package main

import (
	"bufio"
	"bytes"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	_ "modernc.org/sqlite" // the driver
)

// bare is the least that a proxy of this kind can do: read the request, ask the upstream
// three times, commit three rows, answer. No checks, limits, accounts, sessions or views.
type bare struct {
	upstream string
	flush    bool // after every chunk; else when there is no more to read
	client   *http.Client
	writer   chan *commit
}

type bareMessage struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

type bareRequest struct {
	Model             string        `json:"model"`
	Messages          []bareMessage `json:"messages"`
	Stream            bool          `json:"stream"`
	MaxTokens         int           `json:"max_tokens,omitempty"`
	StructuredOutputs any           `json:"structured_outputs,omitempty"`
}

type bareAnswer struct {
	Choices []struct {
		Message bareMessage `json:"message"`
		Delta   bareMessage `json:"delta"`
		Finish  *string     `json:"finish_reason"`
	} `json:"choices"`
}

// instruction stands for a route prompt of usual size.
var instruction = strings.Repeat("Choose the specialist for the request that is quoted below. ", 20)

func (b *bare) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var q bareRequest
	if err := json.NewDecoder(r.Body).Decode(&q); err != nil || len(q.Messages) == 0 {
		http.Error(w, "no request", http.StatusBadRequest)
		return
	}
	if err := b.turn(w, q); err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
	}
}

func (b *bare) turn(w http.ResponseWriter, q bareRequest) error {
	last := q.Messages[len(q.Messages)-1]
	label, err := b.ask(bareRequest{Model: "L0", MaxTokens: 24, Messages: []bareMessage{{"system", instruction}, last}, StructuredOutputs: map[string]any{"choice": []string{"L0", "L1", "L2", "L3"}}})
	if err != nil {
		return err
	}
	var said string
	if q.Stream {
		said, err = b.relay(w, bareRequest{Model: label, Messages: q.Messages, Stream: true})
	} else {
		said, err = b.ask(bareRequest{Model: label, Messages: q.Messages})
	}
	if err != nil {
		return err
	}
	summary, err := b.ask(bareRequest{Model: label, MaxTokens: 192, Messages: append(q.Messages, bareMessage{"assistant", said}, bareMessage{"user", "Sum it up."})})
	if err != nil {
		return err
	}
	c := &commit{rows: [3][2]string{{"user", last.Content}, {"assistant", said}, {"summary", summary}}, done: make(chan error, 1)}
	b.writer <- c
	if err := <-c.done; err != nil {
		return err
	}
	if q.Stream {
		_, err = io.WriteString(w, "data: [DONE]\n\n")
		return err
	}
	return json.NewEncoder(w).Encode(map[string]any{"object": "chat.completion", "choices": []any{map[string]any{"message": bareMessage{"assistant", said}, "finish_reason": "stop"}}})
}

func (b *bare) post(q bareRequest) (*http.Response, error) {
	text, err := json.Marshal(q)
	if err != nil {
		return nil, err
	}
	return b.client.Post(b.upstream+"/v1/chat/completions", "application/json", bytes.NewReader(text))
}

func (b *bare) ask(q bareRequest) (string, error) {
	resp, err := b.post(q)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	var a bareAnswer
	if err := json.NewDecoder(resp.Body).Decode(&a); err != nil || len(a.Choices) == 0 {
		return "", fmt.Errorf("no answer: %w", err)
	}
	_, err = io.Copy(io.Discard, resp.Body)
	return a.Choices[0].Message.Content, err
}

// relay decodes each chunk and encodes it again.
func (b *bare) relay(w http.ResponseWriter, q bareRequest) (string, error) {
	resp, err := b.post(q)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	w.Header().Set("Content-Type", "text/event-stream")
	var said strings.Builder
	for in := bufio.NewReader(resp.Body); ; {
		line, err := in.ReadBytes('\n')
		if err != nil {
			return said.String(), ignoreEOF(err)
		}
		data, some := bytes.CutPrefix(line, []byte("data: "))
		if !some || bytes.HasPrefix(data, []byte("[DONE]")) {
			continue
		}
		var a bareAnswer
		if err := json.Unmarshal(data, &a); err != nil {
			return "", err
		}
		for _, c := range a.Choices {
			said.WriteString(c.Delta.Content)
		}
		out, err := json.Marshal(map[string]any{"object": "chat.completion.chunk", "choices": a.Choices})
		if err != nil {
			return "", err
		}
		if _, err := fmt.Fprintf(w, "data: %s\n\n", out); err != nil {
			return "", err
		}
		if b.flush || in.Buffered() == 0 {
			w.(http.Flusher).Flush()
		}
	}
}

func ignoreEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// commit is what a turn writes.
type commit struct {
	rows [3][2]string
	done chan error
}

// startWriter opens the database and writes what comes in, many turns in one commit.
func startWriter(path, synchronous string) (chan *commit, error) {
	db, err := sql.Open("sqlite", "file:"+path+"?_pragma=journal_mode(WAL)&_pragma=synchronous("+synchronous+")")
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	if _, err := db.Exec(`CREATE TABLE rows (id INTEGER PRIMARY KEY, kind TEXT, body TEXT); CREATE INDEX kinds ON rows (kind, id)`); err != nil {
		return nil, err
	}
	insert, err := db.Prepare(`INSERT INTO rows (kind, body) VALUES (?, ?), (?, ?), (?, ?)`)
	if err != nil {
		return nil, err
	}
	in := make(chan *commit, 256)
	go func() {
		for first := range in {
			write(db, insert, append([]*commit{first}, waiting(in)...))
		}
	}()
	return in, nil
}

func waiting(in chan *commit) (all []*commit) {
	for len(all) < 63 {
		select {
		case c := <-in:
			all = append(all, c)
		default:
			return all
		}
	}
	return all
}

func write(db *sql.DB, insert *sql.Stmt, all []*commit) {
	err := func() error {
		tx, err := db.Begin()
		if err != nil {
			return err
		}
		for _, c := range all {
			if _, err := tx.Stmt(insert).Exec(c.rows[0][0], c.rows[0][1], c.rows[1][0], c.rows[1][1], c.rows[2][0], c.rows[2][1]); err != nil { //nolint:sqlclosecheck // the transaction closes it
				return err
			}
		}
		return tx.Commit()
	}()
	for _, c := range all {
		c.done <- err
	}
}
