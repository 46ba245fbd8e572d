package app

import (
	"context"
	"strings"

	"macaron/internal/auth"
	"macaron/internal/chat"
	"macaron/internal/ids"
	"macaron/internal/limits"
	"macaron/internal/mcp"
	"macaron/internal/record"
	"macaron/internal/turn"
)

// chatting are the app's turns, which are opened after its desk.
type chatting struct{ *App }

// Run serves a turn.
func (a chatting) Run(ctx context.Context, q turn.Request, out turn.Sink) error {
	return a.turns.Run(ctx, q, out)
}

// askScope holds conversations of clients of the Model Context Protocol apart from those
// of other interfaces.
const askScope = "mcp"

// ask is one routed turn of chat, in the conversation that the turn before was in.
func (d Desk) ask(ctx context.Context, owner, conversation, text string) (mcp.Answered, error) {
	messages := []chat.Message{chat.Text(chat.User, text)}
	if err := limits.Conversation(messages); err != nil {
		return mcp.Answered{}, err
	}
	user, scope := auth.Of(ctx).Acts("")
	if scope != "" {
		scope += "/"
	}
	var said answered
	session, parent, _ := strings.Cut(conversation, "/")
	err := d.Turns.Run(ctx, turn.Request{
		ID: d.IDs.New(ids.Request), Owner: owner, User: user, Scope: scope + askScope, Session: session, ParentTurn: parent,
		Messages: messages, Purpose: record.Production, Consent: record.ConsentNone,
	}, &said)
	return mcp.Answered{Answer: said.text.String(), Adapter: said.report.Adapter, Conversation: said.report.Session + "/" + said.report.Turn}, err
}

// answered collects a turn.
type answered struct {
	report turn.Report
	text   strings.Builder
}

// Chosen implements turn.Sink.
func (a *answered) Chosen(r turn.Report) error { return nil }

// Event implements turn.Sink.
func (a *answered) Event(e chat.Event) error {
	a.text.WriteString(e.Text)
	return nil
}

// Done implements turn.Sink.
func (a *answered) Done(r turn.Report, _ chat.FinishReason, _ chat.Usage) error {
	a.report = r
	return nil
}
