// Package harbor runs task directories in Harbor's format: an environment, an instruction,
// an agent, and a verifier that sees what the agent has left and nothing that the agent
// could have prepared for it. Environments are bubblewrap sandboxes on this machine's own
// system, without network. What cannot be reproduced so is refused by name. docs/BENCH.md.
package harbor

import (
	"bytes"
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/pelletier/go-toml/v2"

	"macaron/internal/errs"
)

// Config is what of task.toml counts here. Keys that are not listed are refused, so that
// nothing a task relies on is left out silently; metadata is free.
type Config struct {
	Schema   string         `toml:"schema_version"`
	Version  string         `toml:"version"` // before 1.1
	Source   string         `toml:"source"`
	Task     map[string]any `toml:"task"`
	Metadata map[string]any `toml:"metadata"`
	Agent    Phase          `toml:"agent"`
	Verifier Phase          `toml:"verifier"`
	Solution Phase          `toml:"solution"`
	Env      Environment    `toml:"environment"`
	Artifact []any          `toml:"artifacts"`
}

// Phase is the agent's, the verifier's or the oracle's part.
type Phase struct {
	Seconds float64           `toml:"timeout_sec"`
	Env     map[string]string `toml:"env"`
	User    any               `toml:"user"`
	Mode    string            `toml:"environment_mode"`
	Network string            `toml:"network_mode"`
}

// Environment is the container's description.
type Environment struct {
	BuildSeconds float64           `toml:"build_timeout_sec"`
	Image        string            `toml:"docker_image"`
	OS           string            `toml:"os"`
	CPUs         float64           `toml:"cpus"`
	MemoryMB     int               `toml:"memory_mb"`
	StorageMB    int               `toml:"storage_mb"`
	GPUs         int               `toml:"gpus"`
	Network      string            `toml:"network_mode"`
	Internet     *bool             `toml:"allow_internet"`
	Env          map[string]string `toml:"env"`
	Workdir      string            `toml:"workdir"`
	MCP          []any             `toml:"mcp_servers"`
}

// schemas are the versions that are read.
var schemas = []string{"1.0", "1.1", "1.2", "1.3", "1.4"}

// Task is a directory that was read.
type Task struct {
	Dir, Name   string
	Instruction string
	Config      Config
	Notes       []string // what of it means less here
}

// maxText bounds a file of a task that is read whole.
const maxText = 1 << 20

// Read reads a task directory and refuses what cannot be run here.
func Read(dir string) (*Task, error) {
	dir, err := filepath.Abs(dir)
	if err == nil {
		dir, err = filepath.EvalSymlinks(dir)
	}
	if err != nil {
		return nil, errs.Wrap(errs.NotFound, err, dir+" is no task directory", "")
	}
	t := &Task{Dir: dir, Name: filepath.Base(dir)}
	text, err := read(dir, "task.toml")
	if err != nil {
		return nil, err
	}
	dec := toml.NewDecoder(bytes.NewReader(text))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&t.Config); err != nil {
		return nil, errs.New(errs.Unsupported, "task.toml: "+errs.Clip(strict(err)), "the part of the format that is run here is in docs/BENCH.md")
	}
	instruction, err := read(dir, "instruction.md")
	if err != nil {
		return nil, err
	}
	t.Instruction = string(instruction)
	if _, err := read(dir, "tests/test.sh"); err != nil {
		return nil, err
	}
	return t, t.check()
}

func read(dir, name string) ([]byte, error) {
	b, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(name)))
	if err == nil && len(b) > maxText {
		err = fmt.Errorf("it has more than %d bytes", maxText)
	}
	return b, errs.Wrap(errs.NotFound, err, "the task has no "+name+" that can be read", "")
}

// strict names the unknown key where there is one.
func strict(err error) string {
	if s, ok := err.(*toml.StrictMissingError); ok && len(s.Errors) > 0 { //nolint:errorlint // returned as it is
		row, _ := s.Errors[0].Position()
		return fmt.Sprintf("line %d: the key %v is not supported", row, s.Errors[0].Key())
	}
	return err.Error()
}

// check refuses what would be another task without it.
func (t *Task) check() error {
	c, e := t.Config, t.Config.Env
	schema := cmp.Or(c.Schema, c.Version, schemas[len(schemas)-1]) // without one it is the newest, as in Harbor
	for _, bad := range []struct {
		is   bool
		what string
	}{
		{!slices.Contains(schemas, schema), fmt.Sprintf("schema_version %q", schema)},
		{e.OS != "" && e.OS != "linux", "environment.os " + e.OS},
		{e.GPUs > 0, "environment.gpus"},
		{len(e.MCP) > 0, "environment.mcp_servers"},
		{e.Workdir != "" && !within(e.Workdir), "environment.workdir outside of /app"},
		{exists(t.Dir, "environment/docker-compose.yaml"), "environment/docker-compose.yaml"},
		{!exists(t.Dir, "environment/Dockerfile") && e.Image != "", "environment.docker_image without a Dockerfile"},
	} {
		if bad.is {
			return errs.New(errs.Unsupported, "the task needs what is not run here: "+bad.what, "use Harbor itself for it")
		}
	}
	if e.Network != "no-network" && (e.Internet == nil || *e.Internet) {
		t.Notes = append(t.Notes, "the task allows the network; there is none here")
	}
	if e.CPUs > 0 {
		t.Notes = append(t.Notes, "environment.cpus is not enforced")
	}
	return nil
}

func exists(dir, name string) bool {
	_, err := os.Lstat(filepath.Join(dir, filepath.FromSlash(name)))
	return err == nil
}
