package discovery_test

import (
	"context"
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"

	"macaron/internal/chat"
	"macaron/internal/contract"
	"macaron/internal/errs"
	"macaron/internal/ids"
	"macaron/internal/mindforge/discovery"
	"macaron/internal/mint/filter"
	"macaron/internal/record"
	"macaron/internal/transcript"
)

// production is a run of somebody who has consented: it reads a file, writes another one, and
// says a word; change makes it another run.
type production struct {
	head   record.Head
	task   record.RunTask
	closed record.RunClosed
	first  record.ToolReturned
	second record.ToolCalled
	files  map[ids.Digest]string
}

func (p *production) file(path, text string) record.RunFile {
	d := ids.DigestOf([]byte(text))
	p.files[d] = text
	return record.RunFile{Path: path, Digest: d, Bytes: int64(len(text))}
}

func (p *production) run() *transcript.Run {
	call := chat.Text(chat.Assistant, "")
	call.ToolCalls = []chat.ToolCall{{ID: "a", Name: "read_file"}, {ID: "b", Name: p.second.Name}}
	said := chat.Text(chat.Assistant, p.closed.Answer)
	var all []record.Record
	for i, b := range []record.Body{
		record.RunOpened{Task: p.task, Mode: "functions", Messages: []chat.Message{chat.Text(chat.User, p.task.Instruction)}},
		record.Hop{ID: "h1", Hop: record.HopAnswer, Message: &call},
		record.ToolCalled{Call: "a", Name: "read_file", Arguments: json.RawMessage(`{"path":"in.txt"}`), Effect: "read", Attempt: 1}, p.first,
		p.second, record.ToolReturned{Call: "b", Name: p.second.Name, Value: json.RawMessage(`{"bytes":5,"created":true}`)},
		record.Hop{ID: "h2", Hop: record.HopAnswer, Message: &said}, p.closed,
	} {
		h := p.head
		h.Seq, h.Time = int64(i+1), time.Unix(int64(i), 0).UTC()
		all = append(all, record.Record{Head: h, Body: b})
	}
	return transcript.Fold(all)
}

func TestTasksFromProduction(t *testing.T) {
	raw, err := os.ReadFile("../../../macaron.toml")
	if err != nil {
		t.Fatal(err)
	}
	c, err := contract.Parse([]byte(strings.Replace(string(raw), `snapshots = "end"`, "snapshots = \"end\"\noutputs = [\"out.txt\"]", 1)))
	if err != nil {
		t.Fatal(err)
	}
	plain, err := contract.Parse(raw)
	if err != nil {
		t.Fatal(err)
	}
	for what, x := range map[string]struct {
		change func(p *production)
		want   discovery.Reason
	}{
		"a good run":                    {func(*production) {}, ""},
		"no consent":                    {func(p *production) { p.head.Consent = record.ConsentNone }, discovery.Unconsented},
		"an evaluation":                 {func(p *production) { p.head.Purpose = record.Evaluation }, discovery.Unconsented},
		"out of turns":                  {func(p *production) { p.closed.Status = record.RunTurns }, discovery.Unfinished},
		"nothing checked it":            {func(p *production) { p.head.Contract = plain.Hash() }, discovery.Unverified},
		"its contract is gone":          {func(p *production) { p.head.Contract = ids.DigestOf([]byte("gone")) }, discovery.Unverified},
		"another result":                {func(p *production) { p.first.Value = json.RawMessage(`{"text":"plum\n","lines":1}`) }, discovery.Unreplayed},
		"a tool of the world out there": {func(p *production) { p.second.Name = "search_memory" }, discovery.Unreplayed},
		"a person's address":            {func(p *production) { p.task.Instruction += " Then write to jane.roe@example.com." }, discovery.Screened},
		"an address in a file":          {func(p *production) { p.task.Files = append(p.task.Files, p.file("who.txt", "jane.roe@example.com")) }, discovery.Screened},
		"a file that is not kept":       {func(p *production) { p.files = map[ids.Digest]string{} }, discovery.Unreplayed},
		"the answer in the request":     {func(p *production) { p.task.Instruction += " Say lemon." }, discovery.Leak},
		"an output that no call makes":  {func(p *production) { p.closed.Outputs = []record.RunFile{p.file("out.txt", "other\n")} }, discovery.Unsolvable},
	} {
		p := &production{files: map[ids.Digest]string{}, head: record.Head{Owner: "o", Session: "s", Run: "run_1", Contract: c.Hash(), Purpose: record.Production, Consent: record.ConsentTrain}}
		p.task = record.RunTask{Instruction: "Read the file in.txt and write the fruit that stands in it into the file out.txt without anything else. Then name it.", Files: []record.RunFile{p.file("in.txt", "the lemon\n")}}
		p.first = record.ToolReturned{Call: "a", Name: "read_file", Value: json.RawMessage(`{"lines":1,"text":"the lemon\n"}`)}
		p.second = record.ToolCalled{Call: "b", Name: "write_file", Arguments: json.RawMessage(`{"path":"out.txt","text":"lemon"}`), Effect: "write", Attempt: 1}
		p.closed = record.RunClosed{Status: record.RunDone, Answer: "lemon", Outputs: []record.RunFile{p.file("out.txt", "lemon")}}
		x.change(p)
		d := open(t, solves(2), nil)
		from := discovery.Production{Filter: filter.Defaults(), Contract: func(h ids.Digest) (*contract.Contract, error) {
			for _, k := range []*contract.Contract{c, plain} {
				if k.Hash() == h {
					return k, nil
				}
			}
			return nil, errs.New(errs.NotFound, "gone", "")
		}, File: func(_ context.Context, _, _ string, digest ids.Digest) ([]byte, error) {
			text, ok := p.files[digest]
			if !ok {
				return nil, errs.New(errs.NotFound, "gone", "")
			}
			return []byte(text), nil
		}}
		found, no, err := d.From(t.Context(), from, p.run())
		if err != nil {
			t.Fatal(what, err)
		}
		var got discovery.Reason
		if no != nil {
			got = no.Reason
		} else {
			got = consider(t, d, *found)
		}
		if got != x.want {
			t.Errorf("%s: %q, want %q (%+v)", what, got, x.want, no)
		}
	}
}
