package hcp

import (
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"macaron/cmd/macaron/cli"
	"macaron/internal/contract"
	"macaron/internal/disk"
	"macaron/internal/errs"
)

// onContract is a command on a contract file: the one given, or the configured one.
func onContract(e *cli.Env, use, short, long string, run func(path string, s *contract.Source) error) *cobra.Command {
	var overlays []string
	c := &cobra.Command{Use: use + " [FILE]", Short: short, Long: long, Args: cli.Args(0, 1, "a contract's file"),
		RunE: func(_ *cobra.Command, given []string) error {
			path, s, err := openContract(e, given, overlays)
			if err != nil {
				return err
			}
			return run(path, s)
		}}
	c.Flags().StringSliceVar(&overlays, "overlay", nil, "overlays of the contract to lay over it, in order")
	return c
}

func openContract(e *cli.Env, given, overlays []string) (string, *contract.Source, error) {
	path, err := contractPath(e, given)
	if err != nil {
		return "", nil, err
	}
	s, err := contract.Open(path, overlays...)
	return path, s, err
}

func contractPath(e *cli.Env, given []string) (string, error) {
	if len(given) > 0 {
		return given[0], nil
	}
	c, err := e.Config()
	return c.Contract, err
}

func newHCPCheck(e *cli.Env) *cobra.Command {
	return onContract(e, "check", "Check a contract: exit code 0 when it is good", "Read a contract with everything that it imports and names. Each unknown key, wrong type and value out of bounds is told\nwith file, line and column, and the exit code is not 0.",
		func(path string, s *contract.Source) error {
			if e.JSON {
				return e.PrintJSON(map[string]any{"file": path, "ok": true, "hash": s.Contract.Hash(), "files": s.Parts()})
			}
			fmt.Fprintf(e.Out, "%s is good: %s %s, %s\n", path, s.Contract.Name, s.Contract.Version, s.Contract.Hash())
			return nil
		})
}

func newHCPHash(e *cli.Env) *cobra.Command {
	return onContract(e, "hash", "Print a contract's hash alone", "", func(_ string, s *contract.Source) error {
		if e.JSON {
			return e.PrintJSON(map[string]any{"hash": s.Contract.Hash()})
		}
		fmt.Fprintln(e.Out, s.Contract.Hash())
		return nil
	})
}

func newHCPShow(e *cli.Env) *cobra.Command {
	var resolved, text bool
	c := onContract(e, "show", "Show a contract, or where each of its values comes from", "", func(path string, s *contract.Source) error {
		switch {
		case text:
			return showText(e, s)
		case resolved:
			return showResolved(e, s)
		}
		return showContract(e, path, s)
	})
	c.Flags().BoolVar(&resolved, "resolved", false, "every value with the file, line and column that it is from")
	c.Flags().BoolVar(&text, "toml", false, "the whole contract as one TOML file without imports")
	return c
}

func showText(e *cli.Env, s *contract.Source) error {
	text, err := s.Contract.Text()
	if err != nil {
		return err
	}
	if e.JSON {
		return e.PrintJSON(map[string]any{"hash": s.Contract.Hash(), "toml": string(text)})
	}
	_, err = e.Out.Write(text)
	return disk.Error(err, "the output cannot be written")
}

func showResolved(e *cli.Env, s *contract.Source) error {
	values, err := s.Values()
	if err != nil {
		return err
	}
	if e.JSON {
		return e.PrintJSON(map[string]any{"hash": s.Contract.Hash(), "overlays": s.Applied, "values": values})
	}
	rows := [][]string{{"KEY", "VALUE", "FROM"}}
	for _, v := range values {
		value := strings.ToValidUTF8(string(v.JSON), "?")
		if runes := []rune(value); len(runes) > 60 {
			value = string(runes[:57]) + "..."
		}
		rows = append(rows, []string{v.Path, value, v.From})
	}
	return e.Table(rows...)
}

// contractView is what show tells.
type contractView struct {
	File     string          `json:"file"`
	Hash     string          `json:"hash"`
	Schema   string          `json:"schema"`
	Name     string          `json:"name"`
	Version  string          `json:"version"`
	Parents  []string        `json:"parents"`
	Base     string          `json:"base"`
	Adapters []string        `json:"adapters"`
	Mode     contract.Mode   `json:"mode"`
	Tools    []string        `json:"tools"`
	Hooks    []string        `json:"hooks"`
	Skills   []string        `json:"skills"`
	Overlays []string        `json:"overlays"`
	Files    []contract.Part `json:"files"`
}

func showContract(e *cli.Env, path string, s *contract.Source) error {
	k := s.Contract
	v := contractView{File: path, Hash: string(k.Hash()), Schema: k.Schema, Name: k.Name, Version: k.Version, Parents: []string{}, Base: k.Model.Base,
		Adapters: k.Labels(), Mode: k.Agent.Mode, Tools: []string{}, Hooks: []string{}, Skills: []string{}, Overlays: append([]string{}, s.Overlays...), Files: s.Parts()}
	for _, p := range k.Parents {
		v.Parents = append(v.Parents, string(p))
	}
	for _, t := range k.Tools {
		v.Tools = append(v.Tools, t.Name)
	}
	for _, h := range k.Hooks {
		v.Hooks = append(v.Hooks, h.Name+" on "+string(h.On))
	}
	for _, t := range k.Skills {
		v.Skills = append(v.Skills, t.Name)
	}
	if e.JSON {
		return e.PrintJSON(v)
	}
	rows := [][]string{{"contract", v.Name + " " + v.Version}, {"hash", v.Hash}, {"schema", v.Schema}, {"base", v.Base}, {"adapters", strings.Join(v.Adapters, ", ")}}
	for _, r := range [][2]string{{"parents", strings.Join(v.Parents, ", ")}, {"mode", string(v.Mode)}, {"tools", strings.Join(v.Tools, ", ")}, {"hooks", strings.Join(v.Hooks, ", ")},
		{"skills", strings.Join(v.Skills, ", ")}, {"overlays", strings.Join(v.Overlays, ", ")}} {
		if r[1] != "" {
			rows = append(rows, r[:])
		}
	}
	for _, f := range v.Files {
		rows = append(rows, []string{"file", fmt.Sprintf("%s (%d bytes, %s)", f.Path, f.Bytes, f.Digest.Short())})
	}
	return e.Table(rows...)
}

func newHCPDiff(e *cli.Env) *cobra.Command {
	return &cobra.Command{Use: "diff OLD NEW", Short: "Say what differs between two contracts, in terms of behaviour", Args: cli.Args(2, 2, "two contract files"),
		Long: "Each difference is told with what it can move (score, cost, or cosmetic) and whether it is compatible: whatever the old contract\naccepted and allowed, the new one accepts and allows.",
		RunE: func(_ *cobra.Command, given []string) error {
			was, err := contract.Load(given[0])
			if err != nil {
				return err
			}
			now, err := contract.Load(given[1])
			if err != nil {
				return err
			}
			return hcpDiff(e, was, now)
		}}
}

func hcpDiff(e *cli.Env, was, now *contract.Contract) error {
	changes, err := contract.Diff(was, now)
	if err != nil {
		return err
	}
	if e.JSON {
		return e.PrintJSON(map[string]any{"was": was.Hash(), "now": now.Hash(), "equal": len(changes) == 0, "bump": contract.Bump(changes), "changes": append([]contract.Change{}, changes...)})
	}
	if len(changes) == 0 {
		fmt.Fprintln(e.Out, "The contracts are equal.")
		return nil
	}
	rows := [][]string{{"MOVES", "COMPATIBLE", "WHAT"}}
	for _, c := range changes {
		rows = append(rows, []string{string(c.Class), cli.YesNo(c.Compatible), c.What})
	}
	if err := e.Table(rows...); err != nil {
		return err
	}
	fmt.Fprintf(e.Out, "\nThese changes ask for a new %s version; it went from %s to %s.\n", contract.Bump(changes), was.Version, now.Version)
	return nil
}

func newHCPInit(e *cli.Env) *cobra.Command {
	var name, base string
	c := &cobra.Command{Use: "init FILE", Short: "Write a new contract to start from", Args: cli.Args(1, 1, "the file to write"),
		RunE: func(_ *cobra.Command, given []string) error {
			text, err := contract.Initial(name, base)
			if err != nil {
				return err
			}
			if err := writeNew(given[0], text); err != nil {
				return err
			}
			return e.Wrote(given[0], nil)
		}}
	c.Flags().StringVar(&name, "name", "new-contract", "name of the contract")
	c.Flags().StringVar(&base, "base", "smollm2-135m-instruct", "name of the base model")
	return c
}

func newHCPMigrate(e *cli.Env) *cobra.Command {
	var out string
	var inPlace bool
	c := &cobra.Command{Use: "migrate FILE", Short: "Raise a contract to the newest schema", Args: cli.Args(1, 1, "a contract's file"),
		Long: "Raise a contract of schema macaron.hcp/1: its schema changes, its version becomes a semantic one, and its old hash its parent.\nEvery other byte stays. Without -o and --write the new text is printed.",
		RunE: func(_ *cobra.Command, given []string) error {
			text, err := contract.Read(given[0])
			if err != nil {
				return err
			}
			if text, err = contract.Migrate(text); err != nil {
				return err
			}
			switch {
			case inPlace:
				if err := disk.Replace(given[0], text, 0o644); err != nil {
					return err
				}
				return e.Wrote(given[0], nil)
			case out != "":
				if err := writeNew(out, text); err != nil {
					return err
				}
				return e.Wrote(out, nil)
			case e.JSON:
				return e.PrintJSON(map[string]any{"toml": string(text)})
			}
			_, err = e.Out.Write(text)
			return disk.Error(err, "the output cannot be written")
		}}
	c.Flags().StringVarP(&out, "output", "o", "", "file to write, which must not exist")
	c.Flags().BoolVar(&inPlace, "write", false, "replace the file itself")
	return c
}

// writeNew writes a file that must not exist.
func writeNew(path string, text []byte) error {
	if _, err := os.Lstat(path); err == nil {
		return errs.New(errs.InvalidRequest, path+" exists", "name another file")
	}
	return disk.Replace(path, text, 0o644)
}
