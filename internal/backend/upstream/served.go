package upstream

import "macaron/internal/chat"

// served gathers the token ids of an answer and of its prompt, and the log probabilities,
// as the server tells them. They are kept only if they are whole: training on what the
// server did not sample, or not in that order, would be wrong without a sign of it.
type served struct {
	prompt []int32
	tokens []int32
	logps  []float32
	wrong  bool
}

// prompted takes the ids of the prompt, which come once.
func (s *served) prompted(ids []int32) {
	if s == nil || len(ids) == 0 {
		return
	}
	s.wrong = s.wrong || len(s.prompt) > 0 || negative(ids)
	s.prompt = ids
}

// add takes those of a piece of the answer, each with its log probability.
func (s *served) add(c pieceChoice) {
	if s == nil || len(c.TokenIDs) == 0 && c.Logprobs == nil {
		return
	}
	if c.Logprobs == nil || len(c.Logprobs.Content) != len(c.TokenIDs) || negative(c.TokenIDs) {
		s.wrong = true
		return
	}
	s.tokens = append(s.tokens, c.TokenIDs...)
	for _, t := range c.Logprobs.Content {
		s.logps = append(s.logps, float32(t.Logprob))
	}
}

// tell puts them into the end of an answer, if its usage counts as many.
func (s *served) tell(end *chat.Finish) {
	if s == nil || s.wrong || len(s.tokens) == 0 || len(s.tokens) != end.Usage.OutputTokens || len(s.prompt) != end.Usage.PromptTokens {
		return
	}
	end.Raw, end.Logps, end.Prompt = s.tokens, s.logps, s.prompt
}

func negative(ids []int32) bool {
	for _, id := range ids {
		if id < 0 {
			return true
		}
	}
	return false
}
