package mint

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"macaron/cmd/macaron/cli"
	"macaron/internal/adapter"
	"macaron/internal/app"
	"macaron/internal/auth"
	"macaron/internal/clock"
	"macaron/internal/config"
	"macaron/internal/contract"
	"macaron/internal/contract/sign"
	"macaron/internal/disk"
	"macaron/internal/errs"
	"macaron/internal/ids"
	"macaron/internal/mint/artifact"
	"macaron/internal/mint/catalogue"
	"macaron/internal/wire/revisions"
)

// mintCatalogue are the verbs of the catalogue. They work beside a running server, which
// takes up within a second what they move.
func mintCatalogue(e *cli.Env) []*cobra.Command {
	all := []*cobra.Command{
		newMintRevisions(e), newMintShow(e), newMintPublish(e), newMintPromote(e), newMintRollback(e), newMintAlias(e), newMintHistory(e), newMintExport(e), newMintImport(e), newMintGC(e),
	}
	for _, c := range all {
		c.Flags().String("tenant", auth.Local, "whose revisions")
	}
	return all
}

// Tenant is the value of --tenant.
func Tenant(cmd *cobra.Command) string { return cmd.Flag("tenant").Value.String() }

// withCatalogue opens the catalogue for one command. A home that is not there is made.
func withCatalogue(ctx context.Context, e *cli.Env, do func(config.Config, *catalogue.Catalogue) error) error {
	return WithCatalogued(ctx, e, func(c config.Config, _ app.Store, k *catalogue.Catalogue) error { return do(c, k) })
}

// WithCatalogued is withCatalogue for a command that also needs the store.
func WithCatalogued(ctx context.Context, e *cli.Env, do func(config.Config, app.Store, *catalogue.Catalogue) error) error {
	c, err := e.Config()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(c.Home, 0o700); err != nil {
		return disk.Error(err, c.Home+" cannot be made")
	}
	return e.WithStore(ctx, func(s app.Store) error {
		k, err := catalogue.Open(catalogue.Options{Home: c.Home, Store: s, Clock: clock.System{}, Parents: catalogue.DefaultParents, State: artifact.Renewed(c.Home)})
		if err != nil {
			return err
		}
		return errors.Join(do(c, s, k), k.Close())
	})
}

// named finds a revision by its hash or the first digits of it, or by NAME@ALIAS.
func named(ctx context.Context, k *catalogue.Catalogue, owner, text string) (ids.Digest, error) {
	if name, alias, ok := strings.Cut(text, "@"); ok {
		all, err := k.Pointers(ctx, owner, name)
		if err != nil {
			return "", err
		}
		for _, p := range all {
			if p.Alias == alias && p.Revision != "" {
				return p.Revision, nil
			}
		}
		return "", errs.New(errs.NotFound, errs.Clip(text)+" names no revision", "`macaron mint history NAME` lists the aliases and their moves")
	}
	return k.Find(ctx, owner, text)
}

func newMintRevisions(e *cli.Env) *cobra.Command {
	var s adapter.Search
	var parent string
	c := &cobra.Command{
		Use: "revisions", Short: "List revisions, the newest first", Args: cli.NoArgs,
		Example: "  macaron mint revisions --name L1\n  macaron mint revisions --parent 63afb2ac66a5",
		RunE: func(cmd *cobra.Command, _ []string) error {
			return withCatalogue(cmd.Context(), e, func(_ config.Config, k *catalogue.Catalogue) (err error) {
				if parent != "" {
					if s.Parent, err = named(cmd.Context(), k, Tenant(cmd), parent); err != nil {
						return err
					}
				}
				all, err := k.Revisions(cmd.Context(), Tenant(cmd), s)
				if err != nil {
					return err
				}
				if e.JSON {
					return e.PrintJSON(map[string]any{"revisions": append([]adapter.Numbered{}, all...)})
				}
				rows := [][]string{{"SEQ", "REVISION", "NAME", "RANK", "BYTES", "PARENT", "CREATED", "METRICS"}}
				for _, r := range all {
					rows = append(rows, []string{fmt.Sprint(r.Seq), r.Hash.Short(), r.Name, fmt.Sprint(r.Rank), cli.Thousands(r.Bytes), r.Parent.Short(), r.Created.Format(time.DateTime), metrics(r.Metrics)})
				}
				return e.Table(rows...)
			})
		},
	}
	c.Flags().StringVar(&s.Name, "name", "", "of this adapter only")
	c.Flags().StringVar(&parent, "parent", "", "children of this revision only")
	c.Flags().Int64Var(&s.Before, "before", 0, "those before the one with this number")
	c.Flags().IntVar(&s.Limit, "limit", 50, "at most so many")
	return c
}

func newMintShow(e *cli.Env) *cobra.Command {
	var trusted []string
	c := &cobra.Command{
		Use: "show REVISION", Short: "Show a revision, where it comes from and what came of it", Args: cli.Args(1, 1, "a revision: its hash, the first digits of it, or NAME@ALIAS"),
		RunE: func(cmd *cobra.Command, given []string) error {
			return withCatalogue(cmd.Context(), e, func(_ config.Config, k *catalogue.Catalogue) error {
				hash, err := named(cmd.Context(), k, Tenant(cmd), given[0])
				if err != nil {
					return err
				}
				x, err := revisions.Show(cmd.Context(), k, Tenant(cmd), hash)
				if err == nil && len(trusted) > 0 {
					err = verified(x.Published, trusted)
				}
				if err != nil {
					return err
				}
				if e.JSON {
					return e.PrintJSON(x)
				}
				return showRevision(e, x)
			})
		},
	}
	c.Flags().StringSliceVar(&trusted, "trusted", nil, "public keys; one of them must have signed it")
	return c
}

func verified(p adapter.Published, trusted []string) error {
	keys, err := sign.Publics(trusted)
	if err == nil {
		_, err = catalogue.Verify(p, keys)
	}
	return err
}

func showRevision(e *cli.Env, x revisions.Shown) error {
	rows := [][]string{{"revision", string(x.Hash)}, {"name", x.Name}, {"base", string(x.Base)}, {"shape", fmt.Sprintf("rank %d, alpha %v, %s", x.Rank, x.Alpha, strings.Join(x.Targets, " "))},
		{"bytes", cli.Thousands(x.Bytes)}, {"created", x.Created.Format(time.RFC3339)}, {"contract", string(x.Contract)}, {"data", string(x.Data)}, {"recipe", string(x.Recipe)}, {"metrics", metrics(x.Metrics)}}
	for _, p := range x.Lineage {
		rows = append(rows, []string{"ancestor", string(p)})
	}
	for _, c := range x.Children {
		rows = append(rows, []string{"child", string(c.Hash)})
	}
	if x.Signature != "" {
		rows = append(rows, []string{"signed", "yes"})
	}
	if err := e.Table(rows...); err != nil || x.RecipeText == "" {
		return err
	}
	fmt.Fprintf(e.Out, "\n%s\n", cli.Plain(x.RecipeText))
	return nil
}

func metrics(m map[string]float64) string {
	var all []string
	for name, v := range m {
		all = append(all, name+"="+strconv.FormatFloat(v, 'g', 5, 64))
	}
	return strings.Join(slices.Sorted(slices.Values(all)), " ")
}

// movable is a command that moves a pointer.
func movable(e *cli.Env, use, short string, n int, do func(*cobra.Command, *catalogue.Catalogue, []string, catalogue.Move) (adapter.Pointer, error)) *cobra.Command {
	m := catalogue.Move{By: "command", Operator: true}
	c := &cobra.Command{Use: use, Short: short, Args: cli.Args(n, n, "what "+use+" shows")}
	c.RunE = func(cmd *cobra.Command, given []string) error {
		return withCatalogue(cmd.Context(), e, func(cfg config.Config, k *catalogue.Catalogue) error {
			m.Name = given[0]
			var err error
			if m.Contract, err = servable(cfg, Tenant(cmd), m.Name); err != nil {
				return err
			}
			p, err := do(cmd, k, given, m)
			if err != nil {
				return err
			}
			if e.JSON {
				return e.PrintJSON(p)
			}
			fmt.Fprintf(e.Out, "%s of %s is %s (move %d)\n", cli.Cell(p.Alias), cli.Cell(p.Name), nowhere(p.Revision), p.Version)
			return nil
		})
	}
	c.Flags().StringVar(&m.Reason, "reason", "", "the reason, which stays in the history")
	c.Flags().Int64Var(&m.Version, "version", -1, "refuse if the pointer has moved since this version; negative: move it anyway")
	return c
}

func nowhere(d ids.Digest) string {
	if d == "" {
		return "the contract's source"
	}
	return string(d)
}

// servable checks the name against the contract, if there is one, and gives its hash.
func servable(c config.Config, owner, name string) (ids.Digest, error) {
	if _, err := os.Stat(c.Contract); errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	k, err := contract.Load(c.Contract)
	if err != nil {
		return "", err
	}
	return k.Hash(), app.Servable(k, owner, name)
}

func newMintPromote(e *cli.Env) *cobra.Command {
	var checkpoint, optimizer string
	var links catalogue.Links
	c := movable(e, "promote NAME REVISION", "Serve a revision under an adapter's name", 2, func(cmd *cobra.Command, k *catalogue.Catalogue, given []string, m catalogue.Move) (adapter.Pointer, error) {
		var err error
		if given[1] != "none" {
			if m.Revision, err = named(cmd.Context(), k, Tenant(cmd), given[1]); err != nil {
				return adapter.Pointer{}, err
			}
		}
		for text, at := range map[*string]*ids.Digest{&checkpoint: &links.Checkpoint, &optimizer: &links.Optimizer} {
			if *text != "" {
				if *at, err = ids.ParseDigest(*text); err != nil {
					return adapter.Pointer{}, err
				}
			}
		}
		m.Links = links
		return k.Promote(cmd.Context(), Tenant(cmd), m)
	})
	c.Flags().StringVar(&checkpoint, "checkpoint", "", "digest of the latest training checkpoint")
	c.Flags().StringVar(&optimizer, "optimizer", "", "digest of its optimizer state, if that is apart")
	c.Flags().StringSliceVar(&links.Rollouts, "rollout", nil, "records of the log that it was trained on")
	c.Long = "Makes a revision the champion of an adapter of the contract: new turns are served it, turns that\nhave begun end as they began. `none` goes back to the contract's own source."
	c.Example = "  macaron mint promote L1 63afb2ac66a5 --reason \"reward 0.93 on held-out\"\n  macaron mint promote L1 L1@canary\n  macaron mint promote L1 none"
	return c
}

func newMintRollback(e *cli.Env) *cobra.Command {
	return movable(e, "rollback NAME", "Serve the previous champion again", 1, func(cmd *cobra.Command, k *catalogue.Catalogue, _ []string, m catalogue.Move) (adapter.Pointer, error) {
		return k.Rollback(cmd.Context(), Tenant(cmd), m)
	})
}

func newMintAlias(e *cli.Env) *cobra.Command {
	return movable(e, "alias NAME ALIAS REVISION", "Move a name, such as canary, to a revision", 3, func(cmd *cobra.Command, k *catalogue.Catalogue, given []string, m catalogue.Move) (adapter.Pointer, error) {
		m.Alias = given[1]
		var err error
		if given[2] != "none" {
			if m.Revision, err = named(cmd.Context(), k, Tenant(cmd), given[2]); err != nil {
				return adapter.Pointer{}, err
			}
		}
		return k.Alias(cmd.Context(), Tenant(cmd), m)
	})
}

func newMintHistory(e *cli.Env) *cobra.Command {
	var alias string
	var limit int
	c := &cobra.Command{Use: "history NAME", Short: "List the moves of an adapter's names, the latest first", Args: cli.Args(1, 1, "an adapter's name"), RunE: func(cmd *cobra.Command, given []string) error {
		return withCatalogue(cmd.Context(), e, func(_ config.Config, k *catalogue.Catalogue) error {
			all, err := k.History(cmd.Context(), Tenant(cmd), given[0], alias, limit)
			if err != nil {
				return err
			}
			if e.JSON {
				return e.PrintJSON(map[string]any{"moves": append([]adapter.Pointer{}, all...)})
			}
			rows := [][]string{{"WHEN", "ALIAS", "MOVE", "REVISION", "BY", "REASON"}}
			for _, p := range all {
				rows = append(rows, []string{p.At.Format(time.DateTime), p.Alias, fmt.Sprint(p.Version), nowhere(p.Revision), p.By, p.Reason})
			}
			return e.Table(rows...)
		})
	}}
	c.Flags().StringVar(&alias, "alias", "", "of this alias only")
	c.Flags().IntVar(&limit, "limit", 100, "at most so many")
	return c
}

func newMintGC(e *cli.Env) *cobra.Command {
	var retention, grace time.Duration
	var dry bool
	c := &cobra.Command{
		Use: "gc", Short: "Remove revisions that nothing reaches", Args: cli.NoArgs,
		Long: "Condemns what no alias, no move within the retention, no record of the log, no reader and no contract\n" +
			"reaches, and removes what was condemned more than the grace ago and still is. A server may run meanwhile.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			return WithCatalogued(cmd.Context(), e, func(cfg config.Config, s app.Store, k *catalogue.Catalogue) error {
				how := app.Collection(cfg.Home, cfg.Contract, s)
				how.Retention, how.Grace, how.DryRun = retention, grace, dry
				did, err := k.Collect(cmd.Context(), how)
				if err != nil {
					return err
				}
				if e.JSON {
					return e.PrintJSON(did)
				}
				fmt.Fprintf(e.Out, "%d revisions: %d reached, %d condemned, %d reprieved, %d removed; %d shards of %s bytes removed, %d revisions moved\n",
					did.Revisions, did.Reached, did.Condemned, did.Reprieved, did.Removed, did.Shards, cli.Thousands(did.Bytes), did.Moved)
				return nil
			})
		},
	}
	standard := app.Collection("", "", nil)
	c.Flags().DurationVar(&retention, "retention", standard.Retention, "how long a move of a name keeps the revision that it came to")
	c.Flags().DurationVar(&grace, "grace", standard.Grace, "how long a revision stays after it was published, and after it was condemned")
	c.Flags().BoolVar(&dry, "dry-run", false, "tell what would be done")
	return c
}
