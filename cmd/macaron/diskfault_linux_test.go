package main

import (
	"fmt"
	"strings"
	"testing"

	"macaron/internal/disk/disktest"
)

// shown is a line of a command and what it must print.
type shown struct{ line, text string }

// deed is what a command does to the files of a home.
type deed struct {
	name   string
	before []string // lines that make what it finds
	line   string   // what is done while the disk fails
	writes []string // files that it writes: beginnings of their paths
	had    []shown  // what was there before, and must never go
	gives  []shown  // what is there when it was done
	again  string   // part of what the same line says when it was done already, if that is an error
	only   string   // the beginning of the paths whose calls fail; "": all
}

var deeds = []deed{
	{name: "first use", line: "mint revisions", writes: []string{"home/log.db"}, had: []shown{{"hcp check $DIR/macaron.toml", "hash"}}, gives: []shown{{"mint revisions", "revisions"}}},
	{name: "start", line: "serve", writes: []string{"home/lock", "home/cache/packed/", "home/blobs/contracts/", "home/blobs/revisions/"},
		had: []shown{{"adapter ls", "L0"}}, gives: []shown{{"adapter ls", "L1"}}},
	{name: "keys", before: []string{"key create --name first"}, line: "key create --name second", writes: []string{"home/keys/"},
		had: []shown{{"key list", "first"}}, gives: []shown{{"key list", "second"}}},
	{name: "models", before: []string{"model pull file:$DIR/a.gguf --name first"}, line: "model pull file:$DIR/b.gguf --name second", writes: []string{"home/blobs/models.json", "home/blobs/sha256/", "home/blobs/partial/"},
		had: []shown{{"model show first", "llama"}, {"model ls", "first"}}, gives: []shown{{"model show second", "llama"}}},
	{name: "contract", line: "adapter add $DIR/new --name L4 --description verses", writes: []string{"macaron.toml", ".macaron.toml-", "home/blobs/revisions/"},
		had: []shown{{"adapter show L0", "L0"}}, gives: []shown{{"adapter show L4", "verses"}}, again: "has an adapter L4"},
	{name: "catalogue", before: []string{"mint publish $DIR/new --name L0 --promote first"}, line: "mint publish $DIR/other --name L1 --promote second", writes: []string{"home/blobs/shards/", "home/log.db"},
		had: []shown{{"mint show L0@champion", "L0"}, {"mint history L0", "first"}}, gives: []shown{{"mint show L1@champion", "L1"}, {"mint history L1", "second"}}},
	{name: "export", before: []string{"mint publish $DIR/new --name L0 --promote first"}, line: "mint export L0@champion $DIR/out --format peft", writes: []string{"out"},
		had: []shown{{"mint show L0@champion", "L0"}}, gives: []shown{{"mint import $DIR/out --name L9", "sha256:"}}, again: "is there already"},
	{name: "training", line: "train $DIR/sft.toml --fresh", writes: []string{"sft.out"},
		had: []shown{{"mint import $DIR/new --name L9", "sha256:"}}, gives: []shown{{"mint publish $DIR/sft.out --name L9 --recipe $DIR/sft.out/provenance.json", "sha256:"}}, again: "is there already"},
	{name: "tools", before: []string{"tool save testdata/tool.json"}, line: "tool promote $TOOL --cases testdata/cases.json", writes: []string{"home/shed/", "home/log.db"},
		had: []shown{{"tool list", "twice"}}, gives: []shown{{"tool show $TOOL", "promoted"}}},
	{name: "datasets", before: []string{"talk"}, line: "data export --train", writes: []string{"home/datasets/"},
		had: []shown{{"data export --tenant local", "turn.closed"}}, gives: []shown{{"data report $DATASET", "rows"}}},
	{name: "deletion", before: []string{"talk"}, line: "data delete --tenant acme", writes: []string{"home/log.db"},
		had: []shown{{"data export --tenant local", "turn.closed"}}, gives: []shown{{"data delete --tenant local --dry-run", "sessions"}}},
	{name: "backup", before: []string{"talk", "key create --name first", "mint publish $DIR/new --name L0"}, line: "backup $DIR/archive", writes: []string{"archive"},
		had: []shown{{"key list", "first"}}, gives: []shown{{"restore $DIR/archive --home $DIR/restored", "files"}}, again: "exists"},
	{name: "restore", before: []string{"talk", "key create --name first", "backup $DIR/archive"}, line: "restore $DIR/archive --home $DIR/restored", writes: []string{"restored"},
		had: []shown{{"key list", "first"}}, gives: []shown{{"data export --tenant local --home $DIR/restored", "turn.closed"}}, again: "not empty"},
	{name: "pins", before: []string{"own"}, line: "mcp accept own run_code", writes: []string{"home/mcp/"},
		had: []shown{{"mcp list own", "run_code"}}, gives: []shown{{"mcp list own", "pinned"}}, only: "home/mcp"},
}

// Every call to the kernel with which a command changes files fails, in each way that a disk
// fails: the command says so with a code, or does without; what was there before is there; and
// with a sound disk the same command does it.
func TestNthFaultBelowEveryFile(t *testing.T) {
	for _, d := range deeds {
		t.Run(d.name, func(t *testing.T) {
			p := newPlot(t)
			p.prepare(d)
			code, out, seen, _ := p.watched(d.line, disktest.Plan{Of: disktest.Below(d.only)})
			if code != 0 {
				t.Fatalf("on a sound disk: %d %s", code, out)
			}
			for _, prefix := range d.writes {
				if !touches(seen, prefix) {
					t.Errorf("nothing of %s is written: %v", prefix, seen)
				}
			}
			t.Logf("%d calls", len(seen))
			for i := 0; i < len(ways)*len(seen); i += *each {
				p.trial(d, faultAt(i))
			}
		})
	}
}

// ways are how a disk fails; Killed is a power cut for this process alone.
var ways = []disktest.Plan{{Fault: disktest.Broken}, {Fault: disktest.Full, Stays: true}, {Fault: disktest.Torn, Stays: true}, {Fault: disktest.Broken, Stays: true}, {Fault: disktest.Killed}}

// faultAt counts through the ways, and in each through the calls.
func faultAt(i int) disktest.Plan {
	plan := ways[i%len(ways)]
	plan.At = 1 + i/len(ways)
	return plan
}

func touches(calls []disktest.Call, prefix string) bool {
	for _, c := range calls {
		if strings.HasPrefix(c.Path, prefix) {
			return true
		}
	}
	return false
}

// trial has one call fail.
func (p *plot) trial(d deed, plan disktest.Plan) {
	p.t.Helper()
	p.reset()
	plan.Of = disktest.Below(d.only)
	code, out, _, struck := p.watched(d.line, plan)
	at := fmt.Sprintf("%s at call %d", plan.Fault, plan.At)
	if len(struck) > 0 {
		at += " (" + struck[0].String() + ")"
	}
	if plan.Stays {
		at += " and all behind it"
	}
	switch {
	case len(struck) == 0: // the order of threads makes a call more or less
	case code == -1 && plan.Fault == disktest.Killed:
	case code == 0 && plan.Fault != disktest.Killed:
	case code != 10 || !strings.Contains(out, `"code": "storage_`) || strings.Contains(out, `"next": ""`) || strings.Contains(out, "goroutine"):
		p.t.Errorf("%s: exit %d: %s", at, code, out)
	case plan.Fault == disktest.Full && !hidden(struck[0]) && !strings.Contains(out, "storage_full"):
		p.t.Errorf("%s: a full disk is told as %s", at, out)
	}
	if err := p.check(); err != nil {
		p.t.Errorf("%s: %v", at, err)
	}
	p.shows(at, d.had)
	if code, out := p.sound(d.line); code != 0 && (d.again == "" || !strings.Contains(out, d.again)) {
		p.t.Errorf("%s: with a sound disk again: exit %d: %s", at, code, out)
	}
	p.shows(at, d.had)
	p.shows(at, d.gives)
}

// hidden reports whether SQLite keeps a full disk to itself, which then is told by the space
// that is left, and here there is some.
func hidden(c disktest.Call) bool {
	return c.Name == "open" || c.Name == "unlink" || c.Name == "fsync" || c.Name == "fdatasync" || strings.HasSuffix(c.Path, "log.db-shm")
}

func (p *plot) shows(at string, list []shown) {
	p.t.Helper()
	for _, s := range list {
		if code, out := p.sound(s.line); code != 0 || !strings.Contains(out, s.text) {
			p.t.Errorf("%s: %s: exit %d, and %q is not in %.500s", at, s.line, code, s.text, out)
		}
	}
}
