package mint

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"macaron/cmd/macaron/cli"
	"macaron/internal/app"
	"macaron/internal/config"
	"macaron/internal/contract/sign"
	"macaron/internal/ids"
	"macaron/internal/mint"
	"macaron/internal/mint/artifact"
	"macaron/internal/mint/catalogue"
)

// newMintImport takes a revision from outside.
func newMintImport(e *cli.Env) *cobra.Command {
	var name, tag, base, promote string
	var trusted []string
	c := &cobra.Command{
		Use: "import FROM", Short: "Take a revision from a PEFT directory, a GGUF adapter or an OCI artifact", Args: cli.Args(1, 1, "a directory, a GGUF file, a tar file of an image layout, or oci://HOST/REPOSITORY:TAG"),
		Example: "  macaron mint import layout --name L1\n  macaron mint import l1.gguf --name L1\n  macaron mint import oci://registry.example/adapters:v3 --trusted publisher.pub",
	}
	how := access(c)
	c.RunE = func(cmd *cobra.Command, given []string) error {
		return withCatalogue(cmd.Context(), e, func(cfg config.Config, k *catalogue.Catalogue) error {
			var d catalogue.Draft
			var b artifact.Bundle
			var err error
			if strings.HasSuffix(given[0], ".gguf") {
				if err = nameGiven(name); err != nil {
					return err // before a base is fetched
				}
				err = onBase(e, cmd, base, func(base string) (err error) {
					d.Files, err = catalogue.FromGGUF(given[0], base)
					return err
				})
			} else {
				d, b, err = taken(cmd.Context(), given[0], tag, *how)
			}
			if err != nil {
				return err
			}
			if name != "" {
				d.Name = name
			}
			if d.Trusted, err = sign.Publics(trusted); err != nil {
				return err
			}
			links, err := kept(cmd.Context(), cfg.Home, b)
			if err != nil {
				return err
			}
			if d.Checkpoint = links.Checkpoint; d.Checkpoint == "" {
				d.Checkpoint = b.Published.Checkpoint // elsewhere
			}
			if err := enter(e, cmd, cfg, k, d, promote, links); err != nil || links.Checkpoint == "" {
				return err
			}
			return adopt(e, cmd, cfg, links.Checkpoint, b.Published.Hash)
		})
	}
	c.Flags().StringVar(&name, "name", "", "the adapter's name; empty: as the artifact says")
	c.Flags().StringVar(&tag, "tag", "latest", "in an image layout")
	c.Flags().StringVar(&base, "base", "", "file of the base that a GGUF adapter is for; empty: the configured model")
	c.Flags().StringSliceVar(&trusted, "trusted", nil, "public keys; one of them must have signed it")
	c.Flags().StringVar(&promote, "promote", "", "serve it at once, for this reason")
	return c
}

// adopt lists training state that came along among the checkpoints of the training service.
func adopt(e *cli.Env, cmd *cobra.Command, cfg config.Config, state, from ids.Digest) error {
	return e.WithStore(cmd.Context(), func(s app.Store) (err error) {
		blobs, err := artifact.States(cfg.Home)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, blobs.Close()) }()
		path, err := mint.Adopt(cmd.Context(), s.Mint(), blobs, Tenant(cmd), state, from, time.Now())
		if err == nil && !e.JSON {
			fmt.Fprintf(e.Out, "its training goes on from %s\n", path)
		}
		return err
	})
}

// kept stores the training state that came along, and says what a policy record links then.
func kept(ctx context.Context, home string, b artifact.Bundle) (links catalogue.Links, err error) {
	for _, s := range b.State {
		if _, err := artifact.Keep(ctx, home, s); err != nil {
			return links, err
		}
		if s.Role == "optimizer" {
			links.Optimizer = s.Digest
		} else {
			links.Checkpoint = s.Digest
		}
	}
	return links, nil
}

// taken is the draft of what stands at a place, and what came along.
func taken(ctx context.Context, from, tag string, how registryAccess) (d catalogue.Draft, b artifact.Bundle, err error) {
	var source artifact.Source
	info, statErr := os.Stat(from)
	switch {
	case strings.HasPrefix(from, artifact.Prefix):
		source, tag, err = how.repository(from)
	case statErr == nil && info.IsDir() && !artifact.IsLayout(from):
		d.Files, err = catalogue.ReadDir(from)
		return d, b, err
	default:
		source, err = artifact.Existing(ctx, from)
	}
	if err == nil {
		b, err = artifact.Pull(ctx, source, tag)
	}
	p := b.Published
	return catalogue.Draft{Files: b.Files, Name: p.Name, Parent: p.Parent, Contract: p.Contract, Data: p.Data, Checkpoint: p.Checkpoint, Recipe: b.Recipe, Metrics: p.Metrics, Signature: p.Signature, Expect: p.Hash}, b, err
}
