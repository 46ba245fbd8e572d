package filter

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"macaron/internal/chat"
)

// judge gives the reason why a candidate is no row, "" if it is one.
func (f *Filter) judge(ctx context.Context, c *candidate) (reason, detail string, err error) {
	if reason := f.form(c); reason != "" {
		return reason, "", nil
	}
	if reason := f.quality(c); reason != "" {
		return reason, "", nil
	}
	c.origin.Language = Language(c.asked() + "\n" + c.learned())
	if l := f.set.Language; len(l) > 0 && !slices.Contains(l, c.origin.Language) {
		return "language", c.origin.Language, nil
	}
	if found, bad, err := f.contaminated(ctx, c); err != nil || bad {
		return "contaminated_" + found.How, fmt.Sprintf("%s, %.3f", found.Set, found.Score), err
	}
	return f.private(c), "", nil
}

// form looks at what a row can hold, and at its length before anything reads the text.
func (f *Filter) form(c *candidate) string {
	tokens := f.set.Rows == "tokens"
	c.origin.Chars = c.chars()
	switch {
	case c.failed && f.set.Quality.Failed:
		return "failed_run"
	case c.calls && !tokens:
		return "tool_calls"
	case c.notText:
		return "not_text"
	case tokens && c.feedback != nil && c.feedback.Correction != "":
		return "correction"
	case c.feedback != nil && c.feedback.Score < 0 && c.feedback.Correction == "" && f.set.Quality.Negative:
		return "negative_feedback"
	case f.set.Cards.Only && len(c.origin.Cards) == 0:
		return "no_card"
	case !f.set.Cards.take(c.origin.Cards):
		return "card_outcome"
	case c.origin.Chars > f.set.Length.MaxChars:
		return "too_long"
	case len(c.feedbackText()) > f.set.Length.MaxChars:
		return "too_long"
	}
	c.correct()
	c.origin.Chars = c.chars()
	if len(c.train) == 0 || len([]rune(strings.TrimSpace(c.learned()))) < f.set.Length.MinAnswer && !c.calls {
		return "too_short"
	}
	return ""
}

// take reports whether all cards of an answer have an outcome that is wanted.
func (s Cards) take(all []CardLabel) bool {
	for _, l := range all {
		if len(s.Outcomes) > 0 && !slices.Contains(s.Outcomes, l.Outcome) {
			return false
		}
	}
	return true
}

func (c *candidate) feedbackText() string {
	if c.feedback == nil {
		return ""
	}
	return c.feedback.Correction
}

// quality looks at what was answered.
func (f *Filter) quality(c *candidate) string {
	q, text := f.set.Quality, c.learned()
	switch {
	case q.Truncated && c.truncated:
		return "truncated"
	case q.ToolErrors && c.toolError:
		return "tool_error"
	case q.Refusals && refuses(text):
		return "refusal"
	case q.Repetition > 0 && (repetition(text) >= q.Repetition || looped(text)):
		return "repetition"
	}
	return ""
}

// contaminated compares every message but the system's with the evaluation sets, by words;
// and what people said in this turn by meaning.
func (f *Filter) contaminated(ctx context.Context, c *candidate) (Contaminated, bool, error) {
	if f.index == nil {
		return Contaminated{}, false, nil
	}
	for _, m := range c.messages {
		if m.Role == string(chat.System) {
			continue
		}
		if found, bad := f.index.Check(m.Content); bad {
			return found, true, nil
		}
	}
	var texts []string
	for _, m := range c.messages[min(c.own, len(c.messages)):] {
		if m.Role == string(chat.User) && strings.TrimSpace(m.Content) != "" {
			texts = append(texts, m.Content)
		}
	}
	return f.index.Alike(ctx, texts, f.set.Evals.Cosine)
}

// private scrubs the texts, or says that the row goes. Tokens as served cannot be scrubbed.
func (f *Filter) private(c *candidate) string {
	s := newScrubber(f.set.PII.Types)
	for i := range c.messages {
		c.messages[i].Content = s.scrub(c.messages[i].Content)
	}
	if len(s.Count) == 0 {
		return ""
	}
	for kind, n := range s.Count {
		f.pii[kind] += n
	}
	if f.set.PII.Action == "drop" || f.set.Rows == "tokens" {
		return "pii"
	}
	for _, kind := range Types {
		if n := s.Count[kind]; n > 0 {
			if slices.Contains(f.set.PII.Drop, kind) {
				return "pii"
			}
			c.changes = append(c.changes, fmt.Sprintf("scrubbed %s %d", kind, n))
		}
	}
	c.origin.PII = s.Count
	c.origin.Chars = c.chars()
	return ""
}
