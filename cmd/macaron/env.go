package main

import (
	"io"

	"macaron/internal/config"
)

// env is what every command works with: the streams and the settings that the
// person gave as flags.
type env struct {
	in       io.Reader
	out, err io.Writer
	json     bool              // --json
	flags    map[string]string // setting -> value, only those given
	hurry    <-chan struct{}   // closed when who asked for a stop cannot wait for its end
}

// config reads the settings: file, then environment, then flags.
func (e *env) config() (config.Config, error) { return config.Load(e.flags) }
