package harness

import (
	"context"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"sort"
	"strings"
	"unicode"
	"unicode/utf8"

	"macaron/internal/adapter"
	"macaron/internal/chat"
	"macaron/internal/contract"
	"macaron/internal/disk"
	"macaron/internal/errs"
	"macaron/internal/ids"
	"macaron/internal/money"
	"macaron/internal/record"
	"macaron/internal/transcript"
)

// The bounds of a task.
const (
	maxInstruction = 1 << 20
	maxMeta        = 64
)

// open checks a task, prepares its workspace and tools, and commits that the run began.
func (h *Harness) open(ctx context.Context, owner string, task Task, o Options) (*run, error) {
	if err := task.check(); err != nil {
		return nil, err
	}
	c, revisions, err := h.Contracts.Current(ctx, owner)
	if err != nil {
		return nil, err
	}
	if c.Agent.Mode == "" {
		return nil, errs.New(errs.InvalidRequest, "the contract says nothing of how an agent acts", "give it an [agent] section; macaron hcp init writes a contract that has one")
	}
	opened := record.RunOpened{Mode: string(c.Agent.Mode), Seed: task.Seed, Limits: bounds(c.Agent, o.Limits)}
	if o.Mode != "" {
		opened.Mode = string(o.Mode)
	}
	if opened.Pins.Adapter, err = acting(c, revisions); err != nil {
		return nil, err
	}
	id := h.IDs.New(ids.Run)
	r := &run{h: h, owner: owner, id: id, contract: c, watch: o.Watch, dir: h.workspace(id), t: &transcript.Run{}}
	opened.Pins.Engine = r.can().Engine
	r.head = record.Head{Owner: owner, Session: h.IDs.New(ids.Session), Run: id, Contract: c.Hash(), Revision: opened.Pins.Adapter.Hash, Purpose: task.Purpose, Consent: task.Consent}
	if err := r.fill(ctx, task, &opened); err != nil {
		r.undo()
		return nil, err
	}
	session := record.SessionOpened{Root: r.head.Session, Scope: "run"}
	records, err := r.records(nil, []record.Body{session, opened})
	if err == nil {
		err = h.Log.Append(context.WithoutCancel(ctx), record.Batch{Records: records})
	}
	if err != nil {
		r.undo()
		return nil, err
	}
	r.took(records)
	h.Point("opened")
	return r, nil
}

// undo leaves nothing of a run that did not begin.
func (r *run) undo() {
	r.close()
	if err := r.h.Remove(r.id); err != nil {
		r.h.Logger.Warn("the directory of a run that did not begin is left", "run", r.id, "err", err)
	}
}

func (t *Task) check() error {
	switch {
	case strings.TrimSpace(t.Instruction) == "":
		return errs.New(errs.InvalidRequest, "the task says nothing", "give it an instruction").In("instruction")
	case len(t.Instruction) > maxInstruction || len(t.Meta) > maxMeta:
		return errs.New(errs.TooLarge, fmt.Sprintf("the task has %d bytes and %d words about it; %d and %d are taken", len(t.Instruction), len(t.Meta), maxInstruction, maxMeta), "put what is long into a file").In("instruction")
	}
	for name := range t.Files {
		if err := inWorkspace(name); err != nil {
			return err
		}
		for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
			if _, file := t.Files[dir]; file {
				return errs.New(errs.InvalidRequest, errs.Clip(dir)+" is both a file of the task and a directory", "name one of them otherwise").In("files")
			}
		}
	}
	if t.Purpose == "" {
		t.Purpose = record.Production
	}
	if t.Consent == "" {
		t.Consent = record.ConsentNone
	}
	return nil
}

// longestPath bounds the path of a task's file in bytes.
const longestPath = 1024

// inWorkspace refuses paths that do not name a file below the workspace in one way.
func inWorkspace(name string) error {
	if len(name) > longestPath || !utf8.ValidString(name) || strings.ContainsFunc(name, unicode.IsControl) || !filepath.IsLocal(name) || path.Clean(name) != name || name == "." {
		return errs.New(errs.InvalidRequest, fmt.Sprintf("the file %q does not lie in the workspace", errs.Clip(name)), fmt.Sprintf("use a relative path of at most %d bytes, without .. and control characters", longestPath)).In("files")
	}
	return nil
}

// acting finds the revision of the contract's acting adapter.
func acting(c *contract.Contract, revisions []adapter.Revision) (adapter.Revision, error) {
	for _, r := range revisions {
		if r.Name == c.Agent.Adapter {
			return r, nil
		}
	}
	return adapter.Revision{}, errs.New(errs.AdapterNotFound, "the adapter "+c.Agent.Adapter+", which acts, is not to be had", "see `macaron adapter ls`").In("agent.adapter")
}

// bounds are the contract's, lowered by those that were asked for.
func bounds(a contract.Agent, o record.RunLimits) record.RunLimits {
	lower := func(at *int, to int) {
		if to > 0 && (*at == 0 || to < *at) {
			*at = to
		}
	}
	l := record.RunLimits{Turns: a.MaxTurns, Tokens: a.MaxTokens, WallMS: int64(a.MaxWallMS), ToolCalls: a.MaxToolCalls, CostUSD: money.Of(a.MaxCostUSD)}
	lower(&l.Turns, o.Turns)
	lower(&l.Tokens, o.Tokens)
	lower(&l.ToolCalls, o.ToolCalls)
	if o.WallMS > 0 && (l.WallMS == 0 || o.WallMS < l.WallMS) {
		l.WallMS = o.WallMS
	}
	if o.CostUSD > 0 && (l.CostUSD == 0 || o.CostUSD < l.CostUSD) {
		l.CostUSD = o.CostUSD
	}
	return l
}

// fill prepares what the run works with and what the model is shown first.
func (r *run) fill(ctx context.Context, task Task, opened *record.RunOpened) (err error) {
	if opened.Limits.CostUSD > 0 && !r.h.Priced(opened.Pins.Adapter.Name) {
		return errs.New(errs.InvalidRequest, "the run is bounded in money, and nobody knows what tokens cost", "set price or [[prices]] in config.toml, or leave max_cost_usd out").In("agent.max_cost_usd")
	}
	if opened.Task, err = r.settle(task); err != nil {
		return err
	}
	if err := r.equip(ctx, opened); err != nil {
		return err
	}
	if opened.Pins.Tools, err = r.gate.Hash(); err != nil {
		return err
	}
	items, err := r.remembered(ctx)
	if err != nil {
		return err
	}
	system := r.contract.AgentSystem(r.contract.Agent.Adapter, contract.Acting{Mode: contract.Mode(opened.Mode), Code: r.codes(opened), Stubs: signatures(r.stubDefs()), Items: items})
	opened.Messages = []chat.Message{chat.Text(chat.System, system), chat.Text(chat.User, task.Instruction)}
	return nil
}

// settle puts the task's files into a new workspace and says what is there.
func (r *run) settle(task Task) (record.RunTask, error) {
	out := record.RunTask{ID: task.ID, Instruction: task.Instruction, Suite: task.Suite, Meta: task.Meta}
	if err := os.MkdirAll(r.dir, 0o700); err != nil {
		return out, disk.Error(err, "the workspace "+r.dir+" cannot be made")
	}
	var total int64
	for _, name := range sortedKeys(task.Files) {
		content := task.Files[name]
		if total += int64(len(content)); total > int64(r.contract.Workspace.MaxBytes) || len(task.Files) > r.contract.Workspace.MaxFiles {
			return out, errs.New(errs.TooLarge, "the task's files are more than the contract's workspace holds", "raise workspace.max_bytes and max_files").In("files")
		}
		digest, err := r.h.files.put(content)
		if err != nil {
			return out, err
		}
		out.Files = append(out.Files, record.RunFile{Path: name, Digest: digest, Bytes: int64(len(content))})
	}
	return out, r.restore(r.visible(out.Files))
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	return keys
}
