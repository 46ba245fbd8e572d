package repl

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
)

// longestFrame bounds a message in bytes, both ways.
const longestFrame = 16 << 20

// request is a message to the interpreter.
type request struct {
	Op     string          `json:"op"` // hello, run, return, interrupt, keep, load
	Nonce  string          `json:"nonce,omitempty"`
	Seed   uint64          `json:"seed"`
	Frozen bool            `json:"frozen"`
	Stubs  []stub          `json:"stubs,omitempty"`
	Cell   string          `json:"cell,omitempty"`
	Code   string          `json:"code"`
	Now    float64         `json:"now"`
	ID     int64           `json:"id,omitempty"`
	Value  json.RawMessage `json:"value,omitempty"`
	Error  *CallError      `json:"error,omitempty"`
	Kept
}

type stub struct {
	Name   string   `json:"name"`
	Doc    string   `json:"doc"`
	Params []string `json:"params"`
}

// reply is a message from the interpreter. Code of a cell can forge any of it: a field
// says at most something about the session that sent it.
type reply struct {
	Op        string          `json:"op"` // up, ready, call, done, kept, loaded, failed
	Nonce     string          `json:"nonce"`
	Python    string          `json:"python"`
	ID        int64           `json:"id"`
	Name      string          `json:"name"`
	Args      json.RawMessage `json:"args"`
	Cell      string          `json:"cell"`
	Status    Status          `json:"status"`
	Value     string          `json:"value"`
	Exception string          `json:"exception"`
	Traceback string          `json:"traceback"`
	CPU       float64         `json:"cpu"`
	Noticed   []string        `json:"noticed"`
	Message   string          `json:"message"`
	Lost      []string        `json:"lost"`
	Kept
}

// Kept is a namespace without its cells: plain data, modules by name, definitions as
// text. Only a sandbox reads Data.
type Kept struct {
	Data    string            `json:"data,omitempty"` // base64 of a pickle
	Modules map[string]string `json:"modules,omitempty"`
	Sources [][]any           `json:"sources,omitempty"` // name, order, text
	Random  string            `json:"random,omitempty"`  // state of the random module
}

// writeFrame sends four bytes of length, most significant first, and JSON.
func writeFrame(w io.Writer, m any) error {
	body, err := json.Marshal(m)
	if err != nil {
		return err
	}
	if len(body) > longestFrame {
		return fmt.Errorf("a message of %d bytes; %d is the most", len(body), longestFrame)
	}
	_, err = w.Write(append(binary.BigEndian.AppendUint32(make([]byte, 0, 4+len(body)), uint32(len(body))), body...))
	return err
}

// receive reads one message. It allocates as bytes arrive, not as announced.
func receive[T request | reply](r io.Reader) (m T, err error) {
	var head [4]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return m, err
	}
	n := int64(binary.BigEndian.Uint32(head[:]))
	if n > longestFrame {
		return m, fmt.Errorf("a message announces %d bytes; %d is the most", n, longestFrame)
	}
	body, err := io.ReadAll(io.LimitReader(r, n))
	if err == nil && int64(len(body)) < n {
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		return m, err
	}
	if err := json.Unmarshal(body, &m); err != nil {
		return m, fmt.Errorf("a message is no JSON: %w", err)
	}
	return m, nil
}
