// Package forge is `macaron forge`: the loop that improves a model and its harness, its
// releases and its evaluator.
package forge

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"macaron/cmd/macaron/cli"
	"macaron/cmd/macaron/hcp"
	"macaron/cmd/macaron/mint"
	"macaron/internal/app"
	"macaron/internal/auth"
	"macaron/internal/config"
	"macaron/internal/contract/sign"
	"macaron/internal/disk"
	"macaron/internal/errs"
	"macaron/internal/ids"
	"macaron/internal/mindforge/attest"
	"macaron/internal/mindforge/ledger"
	"macaron/internal/mindforge/lineage"
	"macaron/internal/mindforge/serve"
	"macaron/internal/mint/catalogue"
)

// New gives the commands of forge.
func New(e *cli.Env) *cobra.Command {
	c := &cobra.Command{Use: "forge", Short: "Improve a pair of contract and adapters, and say which is served", Args: cli.NoArgs, RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() }}
	c.AddCommand(ofLocal(newForgeRun(e), newForgeStatus(e), newForgePause(e), newForgeResume(e), newForgeApprove(e), newForgeAbsorb(e))...)
	c.AddCommand(newForgeLineage(e), newForgeRelease(e), newForgePromote(e), newForgeRollback(e), newForgeCanary(e), newForgeAliases(e), newForgeEvaluator(e))
	c.PersistentFlags().String("tenant", auth.Local, "whose releases")
	c.AddCommand(newForgeReport(e))
	return c
}

// ofLocal refuses another tenant for the commands of the loop, which works for this machine's own: a
// run of somebody else's would be told, paused or approved as this one's.
func ofLocal(all ...*cobra.Command) []*cobra.Command {
	for _, c := range all {
		do := c.RunE
		c.RunE = func(cmd *cobra.Command, given []string) error {
			if t := mint.Tenant(cmd); t != auth.Local {
				return errs.New(errs.Unsupported, "runs of the loop are of the tenant "+auth.Local+", not of "+errs.Clip(t), "leave --tenant out; releases of other tenants are moved with promote, canary and rollback").In("tenant")
			}
			return do(cmd, given)
		}
	}
	return all
}

func newForgeLineage(e *cli.Env) *cobra.Command {
	var to, key, head string
	c := &cobra.Command{
		Use: "lineage [ID]", Short: "Check the ledger, and show what came of what", Args: cli.Args(0, 1, "a hash, the first digits of one, or champion, canary, previous"),
		Example: "  macaron forge lineage champion\n  macaron forge lineage --attest statements --key evaluator.pem",
		RunE: func(cmd *cobra.Command, given []string) error {
			return e.WithStore(cmd.Context(), func(s app.Store) error {
				all, at, err := checked(cmd.Context(), s, mint.Tenant(cmd), head)
				if err != nil {
					return err
				}
				if to != "" {
					return writeAttestations(e, all, to, key)
				}
				g, err := lineage.Of(all)
				if err == nil && len(given) > 0 {
					g, err = g.Around(given[0])
				}
				if err != nil {
					return err
				}
				if e.JSON {
					return e.PrintJSON(map[string]any{"head": at, "graph": g})
				}
				fmt.Fprint(e.Out, g.Text())
				fmt.Fprintf(e.Out, "%d entries, all as they were written; head %d:%s\n", at.Seq, at.Seq, at.Hash)
				return nil
			})
		},
	}
	c.Flags().StringVar(&to, "attest", "", "write signed in-toto statements into this directory")
	c.Flags().StringVar(&key, "key", "", "the private key that signs them")
	c.Flags().StringVar(&head, "head", "", "a head that was noted before, as N:HASH: the ledger must go on from it")
	return c
}

// checked reads an owner's ledger and checks the whole of it.
func checked(ctx context.Context, s app.Store, owner, noted string) ([]ledger.Entry, ledger.Head, error) {
	want, err := headOf(noted)
	if err != nil {
		return nil, want, err
	}
	var all []ledger.Entry
	at, err := (&ledger.Ledger{Store: s}).Check(ctx, owner, func(x ledger.Entry) { all = append(all, x) })
	if err == nil {
		var x ledger.Entry
		if want.Seq > 0 && want.Seq <= int64(len(all)) {
			x = all[want.Seq-1]
		}
		err = ledger.Since(want, x)
	}
	return all, at, err
}

func headOf(text string) (h ledger.Head, err error) {
	if text == "" {
		return h, nil
	}
	n, hash, _ := strings.Cut(text, ":")
	h.Seq, err = strconv.ParseInt(n, 10, 64)
	if err == nil {
		h.Hash, err = ids.ParseDigest(hash)
	}
	if err != nil || h.Seq < 1 {
		err = errs.New(errs.InvalidRequest, "not a head: "+errs.Clip(text), "`macaron forge lineage` prints one, such as 12:sha256:...").In("head")
	}
	return h, err
}

func writeAttestations(e *cli.Env, all []ledger.Entry, dir, keyFile string) error {
	if keyFile == "" {
		return errs.New(errs.InvalidRequest, "statements are signed, and no key is named", "name one with --key; `macaron hcp keygen FILE` makes one").In("key")
	}
	key, err := sign.Private(keyFile)
	if err != nil {
		return err
	}
	statements, err := attest.Statements(all)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return disk.Error(err, dir+" cannot be made")
	}
	names := []string{}
	for _, s := range statements {
		file, err := attest.Seal(s, key)
		if err == nil {
			err = disk.Replace(filepath.Join(dir, s.Name), file, 0o644)
		}
		if err != nil {
			return err
		}
		names = append(names, s.Name)
	}
	if e.JSON {
		return e.PrintJSON(map[string]any{"directory": dir, "statements": names})
	}
	fmt.Fprintf(e.Out, "%d statements in %s\n", len(names), dir)
	return nil
}

// withReleases opens what moves releases. A server that runs takes up within a second what is
// moved.
func withReleases(ctx context.Context, e *cli.Env, do func(*serve.Releases, app.Serving) error) error {
	return mint.WithCatalogued(ctx, e, func(c config.Config, s app.Store, k *catalogue.Catalogue) error {
		r, serving, closer, err := app.Releases(c, s, k)
		if err != nil {
			return err
		}
		return errors.Join(do(r, serving), closer())
	})
}

func newForgeRelease(e *cli.Env) *cobra.Command {
	return &cobra.Command{Use: "release", Short: "Make a release of what the contract's file and the policy records serve now", Args: cli.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return withReleases(cmd.Context(), e, func(r *serve.Releases, serving app.Serving) error {
				now, signature, err := serving(cmd.Context(), mint.Tenant(cmd))
				if err != nil {
					return err
				}
				d, err := r.FromFile(cmd.Context(), mint.Tenant(cmd), now, signature)
				if err != nil {
					return err
				}
				name, err := r.Enter(cmd.Context(), mint.Tenant(cmd), d)
				if err != nil {
					return err
				}
				rel, err := r.Release(cmd.Context(), mint.Tenant(cmd), name)
				if err != nil {
					return err
				}
				return hcp.ShowRelease(e, rel, string(name))
			})
		}}
}

// moving is a command that moves a name.
func moving(e *cli.Env, c *cobra.Command, do func(ctx context.Context, r *serve.Releases, owner string, m serve.Move, given []string) (ledger.Alias, error)) *cobra.Command {
	m := serve.Move{By: "command"}
	c.RunE = func(cmd *cobra.Command, given []string) error {
		return withReleases(cmd.Context(), e, func(r *serve.Releases, _ app.Serving) error {
			if len(given) > 0 && given[0] != "none" {
				var err error
				if m.Release, err = ids.ParseDigest(given[0]); err != nil {
					return err
				}
			}
			a, err := do(cmd.Context(), r, mint.Tenant(cmd), m, given)
			if err != nil {
				return err
			}
			if e.JSON {
				return e.PrintJSON(a)
			}
			fmt.Fprintf(e.Out, "%s is %s, version %d\n", a.Name, onFile(a.Release), a.Version)
			return nil
		})
	}
	c.Flags().StringVar(&m.Reason, "reason", "", "the reason, which stays in the ledger")
	c.Flags().Int64Var(&m.Version, "version", -1, "refuse if the name has moved since this version; negative: move it anyway")
	return c
}

func onFile(release ids.Digest) string {
	if release == "" {
		return "none: the contract's file"
	}
	return string(release)
}

// standing tells where a name stands, of all names. Only the champion, and what it goes back to, can
// be the contract's file: below that there is nothing.
func standing(x ledger.Alias, all []ledger.Alias) string {
	file := func(a ledger.Alias) bool { return a.Name == ledger.Champion && a.Release == "" }
	if x.Release == "" && (x.Name == ledger.Canary || x.Name == ledger.Previous && slices.ContainsFunc(all, file)) {
		return "none"
	}
	return onFile(x.Release)
}

func newForgePromote(e *cli.Env) *cobra.Command {
	return moving(e, &cobra.Command{Use: "promote RELEASE", Short: "Make a release the champion; none: serve the contract's file", Args: cli.Args(1, 1, "a release's hash, or none")},
		func(ctx context.Context, r *serve.Releases, owner string, m serve.Move, _ []string) (ledger.Alias, error) {
			return r.Promote(ctx, owner, m)
		})
}

func newForgeRollback(e *cli.Env) *cobra.Command {
	return moving(e, &cobra.Command{Use: "rollback", Short: "Make the previous champion the champion again", Args: cli.NoArgs,
		Long: "Make the release the champion that was it before, or the contract's file, which was there before the first. `macaron forge aliases` shows it\nas previous. Repeated, it goes further back, never to a release that was taken back; where nothing is left, it is refused (exit code 4)."},
		func(ctx context.Context, r *serve.Releases, owner string, m serve.Move, _ []string) (ledger.Alias, error) {
			return r.Rollback(ctx, owner, m)
		})
}

func newForgeCanary(e *cli.Env) *cobra.Command {
	var share float64
	var rule string
	c := moving(e, &cobra.Command{Use: "canary RELEASE", Short: "Try a release on a share of the conversations; none: end the trial", Args: cli.Args(1, 1, "a release's hash, or none")},
		func(ctx context.Context, r *serve.Releases, owner string, m serve.Move, _ []string) (ledger.Alias, error) {
			if m.Release != "" {
				m.Share = share
				if rule != "" {
					text, err := os.ReadFile(rule)
					if err != nil {
						return ledger.Alias{}, disk.OpenError(err, rule+" cannot be read", "name a file with the trial's rule")
					}
					m.Rule = string(text)
				}
			}
			return r.Canary(ctx, owner, m)
		})
	c.Flags().Float64Var(&share, "share", 0.1, "part of the conversations, between 0 and 1")
	c.Flags().StringVar(&rule, "rule", "", "file with the rule by which it is taken back")
	return c
}

func newForgeAliases(e *cli.Env) *cobra.Command {
	return &cobra.Command{Use: "aliases", Short: "Where champion, canary and previous stand, and how the trial goes", Args: cli.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return withReleases(cmd.Context(), e, func(r *serve.Releases, _ app.Serving) error {
				all, err := r.Ledger.Store.Aliases(cmd.Context(), mint.Tenant(cmd))
				if err != nil {
					return err
				}
				a, verdict, err := r.Trial(cmd.Context(), mint.Tenant(cmd))
				if err != nil {
					return err
				}
				if e.JSON {
					out := map[string]any{"aliases": append([]ledger.Alias{}, all...)}
					if a.Release != "" {
						out["trial"] = verdict
					}
					return e.PrintJSON(out)
				}
				rows := [][]string{{"NAME", "RELEASE", "VERSION", "SINCE", "REASON"}}
				for _, x := range all {
					rows = append(rows, []string{x.Name, standing(x, all), fmt.Sprint(x.Version), x.At.Format(time.DateTime), x.Reason})
				}
				if err := e.Table(rows...); err != nil || a.Release == "" {
					return err
				}
				for _, arm := range []string{ledger.Champion, ledger.Canary} {
					fmt.Fprintf(e.Out, "%s: %d conversations, bad %v\n", arm, verdict.Arms[arm].Conversations, verdict.Arms[arm].Bad)
				}
				return nil
			})
		}}
}
