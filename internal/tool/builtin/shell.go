package builtin

import (
	"context"

	"macaron/internal/tool"
)

// Shell is the tool that runs commands in the sandbox. Run gives the output of a program
// there, in the workspace; it bounds time, memory and output.
type Shell struct {
	Run func(ctx context.Context, args []string) (Ran, error)
}

// Ran is what became of a command.
type Ran struct {
	Exit      int    `json:"exit"`
	Output    string `json:"output"` // standard output and error
	Truncated bool   `json:"truncated,omitempty"`
	Reason    string `json:"reason,omitempty"` // why it was ended, if it was
}

type command struct {
	Command string `json:"command"`
}

// Tools lists it.
func (s Shell) Tools() map[string]tool.Tool {
	return map[string]tool.Tool{"shell": function[command]{tool.Def{Name: "shell", Effect: tool.Write,
		Parameters:  schema(`"command":{"type":"string","minLength":1,"maxLength":65536,"description":"for /bin/sh"}`, `"command"`),
		Description: "Run a shell command in the workspace, in a sandbox without network."}, s.run}}
}

func (s Shell) run(ctx context.Context, c command) (any, error) {
	return s.Run(ctx, []string{"/bin/sh", "-c", c.Command})
}
