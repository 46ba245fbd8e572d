package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"macaron/internal/disk"
	"macaron/internal/errs"
	"macaron/test/forge/rig"
)

// site is the directory of one arm and seed: the loop's home, and beside it the evaluator, which
// the loop cannot write. Everything in it is made by the program's own commands.
type site struct {
	dir, bin, model string
}

func (s site) path(name string) string { return filepath.Join(s.dir, name) }

// lay makes the directory, once.
func (s site) lay(ctx context.Context, base, toml string) error {
	if err := os.MkdirAll(s.dir, 0o755); err != nil {
		return disk.Error(err, s.dir+" cannot be made")
	}
	declared, err := rig.Declared(base, agent)
	if err != nil {
		return err
	}
	start, err := rig.Placed(base, declared)
	if err != nil {
		return err
	}
	for name, text := range map[string][]byte{"start.toml": start, "forge.toml": []byte(toml)} {
		if err := s.same(name, text); err != nil {
			return err
		}
	}
	for _, step := range []struct {
		makes string
		args  []string
	}{
		{"owner.key", []string{"hcp", "keygen", s.path("owner.key")}},
		{"person.key", []string{"hcp", "keygen", s.path("person.key")}},
		{"evaluation.toml", []string{"forge", "evaluator", "contract", "--research", "--people", s.path("person.key.pub")}},
		{"evaluation.toml.sig", []string{"forge", "evaluator", "sign", s.path("evaluation.toml"), "--key", s.path("owner.key")}},
		{"judge", []string{"forge", "evaluator", "init", s.path("judge"), "--trusted", s.path("owner.key.pub"), "--people", s.path("person.key.pub")}},
	} {
		if _, err := os.Stat(s.path(step.makes)); err == nil {
			continue
		}
		out, err := exec.CommandContext(ctx, s.bin, step.args...).Output() //nolint:gosec // the program that is measured
		if err == nil && step.makes == "evaluation.toml" {
			err = disk.Replace(s.path(step.makes), out, 0o644)
		}
		if err != nil {
			return fmt.Errorf("macaron %v: %w", step.args, err)
		}
	}
	return nil
}

// same writes a file, or refuses to go on with what was begun otherwise.
func (s site) same(name string, text []byte) error {
	was, err := os.ReadFile(s.path(name))
	switch {
	case errors.Is(err, os.ErrNotExist):
		return disk.Replace(s.path(name), text, 0o644)
	case err != nil:
		return disk.Error(err, name+" cannot be read")
	case !bytes.Equal(was, text):
		return errs.New(errs.ChecksumMismatch, s.path(name)+" is of another measurement", "move "+s.dir+" away to begin anew")
	}
	return nil
}

// waits is the exit code of a run that waits for a person, nothing that of one that promoted nothing.
const waits, nothing = 12, 11

// run lets the loop go to its end. Who is asked to approve says yes to everything: what is
// measured is what the gate's numbers let through.
func (s site) run(ctx context.Context) (string, error) {
	for {
		cmd := s.macaron(ctx, "forge", "run", s.path("forge.toml"))
		cmd.Stdout, cmd.Stderr = os.Stderr, os.Stderr
		err := cmd.Run()
		name, known := s.name(ctx)
		var end *exec.ExitError
		switch {
		case known != nil:
			return "", errors.Join(err, known)
		case err == nil || errors.As(err, &end) && end.ExitCode() == nothing:
			return name, nil
		case !errors.As(err, &end) || end.ExitCode() != waits:
			return name, err
		}
		if out, err := s.macaron(ctx, "forge", "approve", name, "--key", s.path("person.key")).CombinedOutput(); err != nil {
			return name, fmt.Errorf("%s: %w", out, err)
		}
	}
}

func (s site) macaron(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, s.bin, append(args, "--home", s.path("home"), "--contract", s.path("start.toml"), "--model", s.model)...) //nolint:gosec // the program that is measured
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	return cmd
}

// name is that of the home's one run.
func (s site) name(ctx context.Context) (string, error) {
	out, err := s.macaron(ctx, "forge", "status", "--json").Output()
	if err != nil {
		return "", err
	}
	var list struct{ Runs []struct{ Run string } }
	if err := json.Unmarshal(out, &list); err != nil || len(list.Runs) != 1 {
		return "", errs.Newf(errs.Internal, "%s has %d runs", s.dir, len(list.Runs))
	}
	return list.Runs[0].Run, nil
}
