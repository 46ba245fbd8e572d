package update

import (
	"context"
	"iter"

	"macaron/internal/backend"
	"macaron/internal/chat"
	"macaron/internal/errs"
	"macaron/internal/harness"
	"macaron/internal/mindforge"
	"macaron/internal/mindforge/act"
	"macaron/internal/record"
	"macaron/internal/transcript"
)

// Replayer plays trajectories again under another contract: the harness of production asks,
// and what was said then is what is said now, with the token ids of then. So the prompts are
// those that the other contract gives, made by the code that serves it, and the verifier says
// whether the same behaviour does the task there as well.
type Replayer struct {
	Actor act.Actor // of the other contract; its Generator has to be a backend.Tokenizer, and answers nothing
}

// Play plays one. The trajectory that it gives has a record of its own, of discovery; it
// passes where the same words did the task again.
func (r *Replayer) Play(ctx context.Context, p mindforge.Pair, t Trajectory, seed uint64) (Trajectory, error) {
	engine, ok := r.Actor.Deps.Generator.(backend.Tokenizer)
	if !ok {
		return t, errs.New(errs.Unsupported, "the engine does not tell the tokens of a prompt", "use the built-in engine")
	}
	again := r.Actor
	again.Deps.Generator = &player{Tokenizer: engine, like: r.Actor.Deps.Generator, turns: t.Run.Turns}
	again.Purpose = record.Discovery
	out, err := again.Try(ctx, p, t.Task, seed)
	if err != nil {
		return t, err
	}
	played := Trajectory{Task: t.Task, Outcome: out, Feedback: t.Feedback}
	if out.Run == "" {
		return played, errs.New(errs.UpstreamFailed, "the trajectory of "+errs.Clip(t.Task.ID)+" could not be played", "look at the engine's log")
	}
	h := harness.New(again.Deps)
	defer h.Close()
	played.Run, err = h.Transcript(ctx, again.Owner, out.Run)
	return played, err
}

// player says what was said.
type player struct {
	backend.Tokenizer
	like  backend.Generator
	turns []*transcript.Turn
	next  int
}

// Capabilities implements backend.Generator.
func (p *player) Capabilities() backend.Capabilities { return p.like.Capabilities() }

// Ready implements backend.Generator.
func (p *player) Ready(ctx context.Context) error { return p.like.Ready(ctx) }

// Generate implements backend.Generator.
func (p *player) Generate(_ context.Context, r backend.Request) iter.Seq2[chat.Event, error] {
	return func(yield func(chat.Event, error) bool) {
		if p.next == len(p.turns) || p.turns[p.next].Head.Blob == nil {
			yield(chat.Event{}, errs.New(errs.InvalidRequest, "the trajectory ends here", "it does not do the task under this contract"))
			return
		}
		t := p.turns[p.next]
		p.next++
		for _, e := range events(t, r, p.Capabilities().Engine) {
			if !yield(e, nil) {
				return
			}
		}
	}
}

// events are those of a turn's answer.
func events(t *transcript.Turn, r backend.Request, engine chat.Engine) []chat.Event {
	b, m := t.Head.Blob, t.Hop.Message
	out := []chat.Event{{Start: &chat.Start{PromptTokens: len(r.Tokens), Engine: engine}}}
	if text := m.Text(); text != "" {
		out = append(out, chat.Event{Text: text})
	}
	for i, c := range m.ToolCalls {
		out = append(out, chat.Event{ToolCall: &chat.ToolCallDelta{Index: i, ID: c.ID, Name: c.Name, Arguments: c.Arguments}})
	}
	return append(out, chat.Event{Finish: &chat.Finish{Reason: t.Hop.Finish, Raw: b.Tokens, Logps: b.Logps,
		Usage: chat.Usage{PromptTokens: len(r.Tokens), OutputTokens: len(b.Tokens)}}})
}
