package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"macaron/cmd/macaron/cli"
	"macaron/internal/contract"
)

type versionView struct {
	Version  string `json:"version"`
	Commit   string `json:"commit,omitempty"`
	Changed  bool   `json:"changed,omitempty"` // the work tree had changes that were not committed
	Go       string `json:"go"`
	Platform string `json:"platform"`
	Contract string `json:"contract_schema"`
}

func thisVersion() versionView {
	v := versionView{Version: cli.Version, Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH, Contract: contract.Schema}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return v
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			v.Commit = s.Value
		case "vcs.modified":
			v.Changed = s.Value == "true"
		}
	}
	return v
}

func newVersion(e *cli.Env) *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Print the version of this program", Args: cli.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			v := thisVersion()
			if e.JSON {
				return e.PrintJSON(v)
			}
			fmt.Fprintf(e.Out, "macaron %s (%s, %s)\n", v.Version, v.Go, v.Platform)
			return nil
		},
	}
}
