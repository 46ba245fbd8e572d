package forge

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"macaron/cmd/macaron/cli"
	"macaron/cmd/macaron/hcp"
	"macaron/internal/app"
	"macaron/internal/contract/sign"
	"macaron/internal/errs"
	"macaron/internal/mindforge/evaluation"
	"macaron/internal/mindforge/evaluation/evaluator"
)

// newForgeEvaluator is who judges: its directory, the contract that it judges by, its process.
func newForgeEvaluator(e *cli.Env) *cobra.Command {
	return cli.Noun("evaluator", "The process that judges candidates, and the contract that it judges by",
		newEvaluatorContract(e), newEvaluatorSign(e), newEvaluatorInit(e), newEvaluatorServe(e), newEvaluatorRehearse(e))
}

func newEvaluatorContract(e *cli.Env) *cobra.Command {
	var research bool
	var planted string
	var people []string
	c := &cobra.Command{Use: "contract", Short: "Print the evaluation contract that this build comes with, or another to begin from", Args: cli.NoArgs,
		Long:    "Print an evaluation contract: the one that this build comes with, for the three task worlds; with --research one of few attempts, for a\nmachine that takes seconds for each; with --planted one for the planted problem of a forge.toml. --people names who may approve.",
		Example: "  macaron forge evaluator contract --people person.key.pub > evaluation.toml\n  macaron forge evaluator contract --planted forge.toml > evaluation.toml",
		RunE: func(*cobra.Command, []string) error {
			approvers, err := sign.Publics(people)
			if err != nil {
				return err
			}
			text, err := evaluationText(research, planted, approvers)
			if err != nil {
				return err
			}
			_, err = e.Out.Write(text)
			return err
		}}
	c.Flags().BoolVar(&research, "research", false, "of few attempts, for a machine that takes seconds for each")
	c.Flags().StringVar(&planted, "planted", "", "a forge.toml whose planted problem is judged")
	c.Flags().StringSliceVar(&people, "people", nil, "public keys of who approves")
	return c
}

func evaluationText(research bool, planted string, people []ed25519.PublicKey) ([]byte, error) {
	switch {
	case research && planted != "":
		return nil, errs.New(errs.InvalidRequest, "--research and --planted ask for two contracts", "give one of them").In("planted")
	case research:
		return evaluation.Research(people...)
	case planted != "":
		set, err := readForge(planted)
		if err != nil {
			return nil, err
		}
		return evaluation.Planted(set.Scripted.Families, people...)
	}
	return evaluation.Shipped(people...), nil
}

func newEvaluatorSign(e *cli.Env) *cobra.Command {
	var key string
	c := &cobra.Command{Use: "sign FILE --key KEY", Short: "Check an evaluation contract and sign it: the signature stands beside it in FILE.sig", Args: cli.Args(1, 1, "an evaluation contract"),
		RunE: func(_ *cobra.Command, given []string) error {
			private, err := sign.Private(key)
			if err != nil {
				return err
			}
			text, err := evaluation.Read(given[0])
			if err != nil {
				return err
			}
			out, err := hcp.SignFile(given[0], func(before []byte) ([]byte, error) { return evaluation.Sign(text, private, before) })
			if err != nil {
				return err
			}
			return e.Wrote(out, nil)
		}}
	c.Flags().StringVar(&key, "key", "", "file of the private key (required); macaron hcp keygen makes one")
	return c
}

func newEvaluatorInit(e *cli.Env) *cobra.Command {
	var trusted, people []string
	c := &cobra.Command{Use: "init DIR --trusted KEY.pub", Short: "Make an evaluator's directory: its key, its sealed seed, an empty account", Args: cli.Args(1, 1, "a directory that is not there yet"),
		Long: "Make the directory of an evaluator. Keep it where neither the loop nor what it starts can read or write; the seed in it decides the\nsealed tasks and is printed by nothing. --trusted names who may sign evaluation contracts, --people who may approve.",
		RunE: func(_ *cobra.Command, given []string) error {
			if len(trusted) == 0 {
				return errs.New(errs.InvalidRequest, "nobody is trusted to sign the evaluation contract", "name a public key with --trusted; `macaron hcp keygen` makes a pair").In("trusted")
			}
			signers, err := sign.Publics(trusted)
			if err != nil {
				return err
			}
			approvers, err := sign.Publics(people)
			if err != nil {
				return err
			}
			public, err := evaluator.Init(given[0], signers, approvers, rand.Reader)
			if err != nil {
				return err
			}
			if e.JSON {
				return e.PrintJSON(map[string]any{"dir": given[0], "key": sign.KeyID(public)})
			}
			fmt.Fprintf(e.Out, "%s is the evaluator's alone; %s/key.pub goes to those who check its decisions.\n%s\n", given[0], given[0], sign.KeyID(public))
			return nil
		}}
	c.Flags().StringSliceVar(&trusted, "trusted", nil, "public keys of who signs evaluation contracts")
	c.Flags().StringSliceVar(&people, "people", nil, "public keys of who approves")
	return c
}

// newEvaluatorServe is the process. The loop starts it, with a --home of its own.
func newEvaluatorServe(e *cli.Env) *cobra.Command {
	var j app.Judging
	c := &cobra.Command{Use: "serve DIR CONTRACT", Hidden: true, Short: "Judge what comes in as lines of JSON, and answer with signed decisions (started by the loop)", Args: cli.Args(2, 2, "an evaluator's directory and its contract"),
		RunE: func(cmd *cobra.Command, given []string) error {
			opened := false
			ctx, questions := evaluator.Listen(cmd.Context(), e.In)
			cmd.SetContext(ctx) // while the model is loaded, whoever asks can end too
			err := e.WithApp(cmd, func(ctx context.Context, a *app.App) error {
				j.Dir, j.Contract = given[0], given[1]
				v, err := a.Evaluator(ctx, j)
				if err != nil {
					return err
				}
				opened = true
				return errors.Join(v.Answer(ctx, questions, e.Out), v.Close())
			})
			if err != nil && !opened {
				return judgesNothing(e, err)
			}
			return err
		}}
	c.Flags().StringSliceVar(&j.Outside, "outside", nil, "directories that the loop may write")
	c.Flags().IntVar(&j.AtOnce, "at-once", 1, "items whose attempts are made at once")
	c.Flags().StringVar(&j.Live, "live", "", "home of who serves, in whose log the live turns of a trial are counted")
	c.Flags().StringVar(&j.Revisions, "revisions", "", "directory where the loop keeps revisions by their hashes")
	return c
}

// judgesNothing tells the loop that started this process why nobody judges. It tells people.
func judgesNothing(e *cli.Env, why error) error {
	return errors.Join(evaluator.Refuse(e.Out, why), cli.Reported(errs.CodeOf(why)))
}
