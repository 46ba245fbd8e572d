package harness

import "strings"

// callMarks begin a tool call in the formats that models are trained on, as engines' own
// parsers of tool calls list them. The engine takes a call that it can read out of the text;
// a mark that is left begins one that it could not.
var callMarks = []string{
	"<tool_call>", "<tool_calls>", "<|tool_call|>", "<function=", "<function_call>", "<start_function_call>",
	"[TOOL_CALLS]", "<|python_tag|>", "<|tool_calls_section_begin|>", "<｜tool▁calls▁begin｜>", "<minimax:tool_call>",
}

// unread is what a model is told whose answer has a call that was not read, "" if it has
// none. Where the contract has texts of its own for calls, only those begin one.
func (r *run) unread(text string) string {
	if r.framing() {
		if !strings.Contains(text, r.contract.Tokens.Call) {
			return ""
		}
		return "The call is not read. Write " + r.contract.Tokens.Call + `{"name": "...", "arguments": {...}}` + r.contract.Tokens.CallEnd + "."
	}
	var names []string
	for _, d := range r.t.Opened.Tools {
		names = append(names, d.Name)
	}
	for _, mark := range callMarks {
		if len(names) > 0 && strings.Contains(text, mark) {
			return "The call behind " + mark + " is not read, and nothing of it was done: it is not well-formed, or names no tool. Call one of " + strings.Join(names, ", ") + " with a JSON object of arguments."
		}
	}
	return ""
}
