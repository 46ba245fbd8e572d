package session

import (
	"context"
	"errors"
	"time"

	"macaron/internal/chat"
	"macaron/internal/ids"
	"macaron/internal/record"
)

var errSkeleton = errors.New("session: not built yet")

// Where says whose conversation a request may belong to.
type Where struct {
	Owner      string // tenant, never empty
	Scope      string // key and `user`; recovery never crosses it
	Session    string // explicit session, or "" for recovery by content
	ParentTurn string // explicit parent, or ""
}

// Position is the place of a request in the log, as Resolve found it.
type Position struct {
	Where
	Session    string // the turn will be in it; "" means that Begin opens a new one
	Root       string
	ForkedFrom string
	Parent     string
	History    []Turn // delivered turns from the oldest to the parent
	System     []chat.Message
	Imported   []chat.Message
	User       []chat.Message
	Continue   *Turn          // the turn whose tool results these are; Begin continues it
	Results    []chat.Message // the tool results
}

// Opening is what Begin records besides the messages.
type Opening struct {
	Request  string
	Run      string
	Contract ids.Digest
	Purpose  record.Purpose // "" means production
	Consent  record.Consent // "" means none
	Tools    []chat.ToolDef
	Choice   chat.ToolChoice
	Forced   string
}

// Served is a hop that ended, with what it served if the backend told.
type Served struct {
	Hop  record.Hop
	Blob *record.Blob
}

// Resolve finds the place of a request by the content of its messages.
func (l *Log) Resolve(ctx context.Context, w Where, messages []chat.Message) (Position, error) {
	return Position{}, errSkeleton
}

// Begin opens the turn of a position; a position with Continue set goes on with
// that turn (or, when that has moved on, with a sibling that shares its trace),
// pinned to its contract and revision: no route then.
func (l *Log) Begin(ctx context.Context, p Position, o Opening) (*Turn, error) {
	return nil, errSkeleton
}

// RecordHop appends a hop. An answer hop without Error adds its Message to the
// trace and pins the turn's revision. It is written even when ctx has ended.
func (l *Log) RecordHop(ctx context.Context, t *Turn, h Served) error { return errSkeleton }

// Close commits how the turn ended, with last hops in the same commit: delivered,
// awaiting tools, or interrupted. Call it before the terminal event is sent. A turn
// interrupted after tool calls that the client saw waits for their results again.
// It is written even when ctx has ended.
func (l *Log) Close(ctx context.Context, t *Turn, status record.Status, reason string, last ...Served) error {
	return errSkeleton
}

// History gives a turn and its ancestors, oldest first; the turn is the last.
func (l *Log) History(ctx context.Context, owner, turn string) ([]Turn, error) {
	return nil, errSkeleton
}

// UseSummaries makes the summaries of these turns final and fills them in: the
// stored text, or fallback's (recorded as source "extract") where there is none.
func (l *Log) UseSummaries(ctx context.Context, turns []*Turn, fallback func(*Turn) string) error {
	return errSkeleton
}

// PutSummary stores a turn's summary, unless a view has used one already: then it
// is dropped and false returned. Either way the turn leaves the queue.
func (l *Log) PutSummary(ctx context.Context, owner, turn string, s Served, sum record.Summary) (bool, error) {
	return false, errSkeleton
}

// LeaseSummaries takes up to n delivered turns whose summary is to be written. A
// lease that ends without PutSummary is given to the next caller, also after a restart.
func (l *Log) LeaseSummaries(ctx context.Context, n int, lease time.Duration) ([]record.Task, error) {
	return nil, errSkeleton
}

// ReleaseSummary gives a task back, to be leased again after a while.
func (l *Log) ReleaseSummary(ctx context.Context, t record.Task, after time.Duration) error {
	return errSkeleton
}

// Sweep interrupts every turn that a crashed process left open and says how many.
// Call it once, before the first request.
func (l *Log) Sweep(ctx context.Context) (int, error) { return 0, errSkeleton }

// Feedback records a person's judgement of a turn.
func (l *Log) Feedback(ctx context.Context, owner, turn string, f record.Feedback) error {
	return errSkeleton
}

// List gives an owner's sessions by last change, newest first, those changed
// before the given time (zero: all).
func (l *Log) List(ctx context.Context, owner string, before time.Time, limit int) ([]record.SessionState, error) {
	return nil, errSkeleton
}

// Load gives a session and all its turns in the order they were opened, siblings
// and interrupted ones too.
func (l *Log) Load(ctx context.Context, owner, session string) (record.SessionState, []Turn, error) {
	return record.SessionState{}, nil, errSkeleton
}
