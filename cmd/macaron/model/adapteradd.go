package model

import (
	"fmt"

	"github.com/spf13/cobra"

	"macaron/cmd/macaron/cli"
	"macaron/internal/contract"
	"macaron/internal/engine/lora"
	"macaron/internal/errs"
	"macaron/internal/models"
	"macaron/internal/registry"
)

func newAdapterAdd(e *cli.Env) *cobra.Command {
	var add registry.Addition
	c := &cobra.Command{
		Use:   "add DIR",
		Short: "Register a PEFT adapter directory in the contract",
		Long: "Checks a PEFT directory (adapter_config.json, adapter_model.safetensors), copies it into the store\n" +
			"under its content and adds an [[adapters]] table to the contract file; nothing else in the file\n" +
			"changes. A running server takes it up with its next request.",
		Example: "  macaron adapter add ./my-lora --name L4 --title Poems --description 'verses and songs'",
		Args:    cli.Args(1, 1, "one directory"),
		RunE: func(_ *cobra.Command, given []string) error {
			return addAdapter(e, given[0], add)
		},
	}
	c.Flags().StringVar(&add.Name, "name", "", "label of the adapter (needed)")
	c.Flags().StringVar(&add.Description, "description", "", "one line that tells the router what it is for (needed for a new one)")
	c.Flags().StringVar(&add.Title, "title", "", "title for people")
	c.Flags().StringVar(&add.Prompt, "prompt", "", "its part of the system text")
	c.Flags().StringVar(&add.Before, "before", "", "label that it goes before in router.order")
	c.Flags().BoolVar(&add.Replace, "replace", false, "put a new revision in the place of the adapter of that name")
	return c
}

func addAdapter(e *cli.Env, dir string, add registry.Addition) error {
	if add.Name == "" || add.Description == "" && !add.Replace {
		return errs.New(errs.InvalidRequest, "an adapter needs a name and a description, by which requests are routed to it", "give --name and --description")
	}
	c, err := e.Config()
	if err != nil {
		return err
	}
	k, err := contract.Load(c.Contract)
	if err != nil {
		return err
	}
	b, err := FindBase(c, k.Model.Base)
	if err != nil {
		return err
	}
	rev, err := lora.Inspect(dir)
	if err != nil {
		return err
	}
	fits, err := b.Fits(dir, rev.Base)
	if err != nil {
		return err
	}
	if rev, err = registry.Add(c.Home, c.Contract, dir, add); err != nil {
		return err
	}
	if e.JSON {
		return e.PrintJSON(map[string]any{"name": rev.Name, "revision": rev.Hash, "params": rev.Params, "bytes": rev.Bytes, "base_match": fits, "contract": c.Contract})
	}
	fmt.Fprintf(e.Out, "%s is registered in %s\n  revision %s, rank %d, %s parameters, %s, fits the base: %s\n",
		rev.Name, c.Contract, rev.Hash.Short(), rev.Rank, cli.Thousands(rev.Params), models.Size(rev.Bytes), fits)
	return nil
}

func newAdapterRemove(e *cli.Env) *cobra.Command {
	return &cobra.Command{
		Use: "rm NAME", Short: "Take an adapter out of the contract", Args: cli.Args(1, 1, "the name of an adapter"),
		Long: "Removes the adapter's [[adapters]] table from the contract file. Its stored revision stays: turns\nof the log may be pinned to it.",
		RunE: func(_ *cobra.Command, given []string) error {
			c, err := e.Config()
			if err != nil {
				return err
			}
			gone, err := registry.Remove(c.Contract, given[0])
			if err != nil {
				return err
			}
			if e.JSON {
				return e.PrintJSON(map[string]any{"name": gone.Name, "source": gone.Source, "contract": c.Contract})
			}
			fmt.Fprintf(e.Out, "%s is no longer registered in %s (its source was %s)\n", gone.Name, c.Contract, gone.Source)
			return nil
		},
	}
}
