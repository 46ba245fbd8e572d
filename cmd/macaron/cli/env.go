// Package cli is what all commands share: the streams and settings, the outcome that a person
// or a script is told, tables and JSON, a terminal that nothing printed can steer, and the
// ways to a server, the log and the model. Each group of commands has a room below it.
package cli

import (
	"io"

	"macaron/internal/config"
)

// Env is what every command works with: the streams and the settings that the
// person gave as flags.
type Env struct {
	In       io.Reader
	Out, Err io.Writer
	JSON     bool              // --json
	Flags    map[string]string // setting -> value, only those given
	Hurry    <-chan struct{}   // closed when who asked for a stop cannot wait for its end
}

// Config reads the settings: file, then environment, then flags.
func (e *Env) Config() (config.Config, error) { return config.Load(e.Flags) }
