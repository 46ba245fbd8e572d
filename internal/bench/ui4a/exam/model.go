package exam

import (
	"context"
	"fmt"
	"strings"
	"time"

	"macaron/internal/adapter"
	"macaron/internal/backend"
	"macaron/internal/bench/ui4a"
	"macaron/internal/chat"
	words "macaron/internal/ui4a"
	"macaron/internal/ui4a/library"
)

// Model answers with a language model.
type Model struct {
	Label     string
	Generator backend.Generator
	Revision  adapter.Revision // of the adapter that writes cards, where there is one
	Seed      uint64
	MaxTokens int
}

// Name is what reports call it.
func (m Model) Name() string { return m.Label }

// Answer asks for a card, or a text where that is better.
func (m Model) Answer(ctx context.Context, c *ui4a.Case) (Answer, error) {
	return m.generate(ctx, m.prompt(c), Answer{})
}

// Repair sends a card back with what was found in it.
func (m Model) Repair(ctx context.Context, c *ui4a.Case, a Answer, problems []string) (Answer, error) {
	list := "The card has problems:\n- " + strings.Join(problems[:min(len(problems), 12)], "\n- ") + "\nWrite the whole card again without them."
	said := chat.Text(chat.Assistant, a.Text+"\n"+words.Fence+"\n"+a.Card+"````\n")
	return m.generate(ctx, append(m.prompt(c), said, chat.Text(chat.User, list)), a)
}

// decide is what a model is told besides the language of cards.
const decide = "Answer with a card only where using one helps the person: to choose, to fill in, to compare, to compute, to look at data. Answer a plain question with plain text and no card."

func (m Model) prompt(c *ui4a.Case) []chat.Message {
	request := strings.TrimSpace(c.Request)
	for _, x := range c.Context {
		if x.Text != "" {
			request += "\n\n" + x.Name + ": " + x.Text
		} else {
			request += fmt.Sprintf("\n\nA picture, %s: %s. A card shows it as <img src=\"asset:%s\">.", x.Name, x.Alt, x.Name)
		}
	}
	return []chat.Message{chat.Text(chat.System, library.Prompt()+"\n\n"+decide), chat.Text(chat.User, request)}
}

// generate adds to what an earlier round has cost.
func (m Model) generate(ctx context.Context, messages []chat.Message, before Answer) (Answer, error) {
	began, seed := time.Now(), int64(m.Seed)
	zero := 0.0
	a := Answer{Prompt: before.Prompt, Output: before.Output, FirstMS: before.FirstMS, WallMS: before.WallMS, Rounds: before.Rounds}
	var text strings.Builder
	r := backend.Request{Messages: messages, Revision: m.Revision, MaxTokens: m.MaxTokens, Sampling: chat.Sampling{Temperature: &zero, Seed: &seed}}
	for e, err := range m.Generator.Generate(ctx, r) {
		if err != nil {
			return a, err
		}
		if e.Text != "" && a.FirstMS == 0 {
			a.FirstMS = time.Since(began).Seconds() * 1000
		}
		text.WriteString(e.Text)
		if e.Finish != nil {
			a.Prompt, a.Output = a.Prompt+e.Finish.Usage.PromptTokens, a.Output+e.Finish.Usage.OutputTokens
		}
	}
	a.WallMS += time.Since(began).Seconds() * 1000
	for _, b := range words.SplitFences(text.String()) {
		switch {
		case b.Card && a.Card == "":
			a.Card = b.Text
		case !b.Card:
			a.Text += b.Text
		}
	}
	return a, nil
}
