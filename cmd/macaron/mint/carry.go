package mint

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"macaron/cmd/macaron/cli"
	"macaron/internal/adapter"
	"macaron/internal/config"
	"macaron/internal/contract/sign"
	"macaron/internal/disk"
	"macaron/internal/engine/lora"
	"macaron/internal/errs"
	"macaron/internal/ids"
	"macaron/internal/mint/artifact"
	"macaron/internal/mint/catalogue"
	"macaron/internal/models"
)

// newMintPublish enters a PEFT directory in the catalogue.
func newMintPublish(e *cli.Env) *cobra.Command {
	var d catalogue.Draft
	var parent, data, recipe, key, promote string
	var measured map[string]string
	c := &cobra.Command{
		Use: "publish DIR --name NAME", Short: "Enter an adapter's directory in the catalogue", Args: cli.Args(1, 1, "a directory that PEFT saved an adapter to"),
		Example: "  macaron mint publish runs/7/adapter --name L1 --recipe recipe.toml --metric reward=0.93 --promote \"better on held-out\"",
		RunE: func(cmd *cobra.Command, given []string) error {
			return withCatalogue(cmd.Context(), e, func(cfg config.Config, k *catalogue.Catalogue) (err error) {
				if d.Files, err = catalogue.ReadDir(given[0]); err != nil {
					return err
				}
				if err := origin(cmd.Context(), k, Tenant(cmd), &d, parent, data, recipe, key, measured); err != nil {
					return err
				}
				return enter(e, cmd, cfg, k, d, promote, catalogue.Links{})
			})
		},
	}
	c.Flags().StringVar(&d.Name, "name", "", "the adapter's name (required)")
	c.Flags().StringVar(&parent, "parent", "", "the revision that training began from")
	c.Flags().StringVar(&data, "data", "", "digest of the data set that it was trained on")
	c.Flags().StringVar(&recipe, "recipe", "", "file of the recipe")
	c.Flags().StringToStringVar(&measured, "metric", nil, "NAME=NUMBER, measured of it; any number of times")
	c.Flags().StringVar(&key, "key", "", "private key that signs it (macaron hcp keygen)")
	c.Flags().StringVar(&promote, "promote", "", "serve it at once, for this reason")
	return c
}

// origin fills in where a revision comes from.
func origin(ctx context.Context, k *catalogue.Catalogue, owner string, d *catalogue.Draft, parent, data, recipe, key string, measured map[string]string) (err error) {
	if parent != "" {
		if d.Parent, err = named(ctx, k, owner, parent); err != nil {
			return err
		}
	}
	if data != "" {
		if d.Data, err = ids.ParseDigest(data); err != nil {
			return err
		}
	}
	if recipe != "" {
		text, err := os.ReadFile(recipe)
		if err != nil {
			return disk.OpenError(err, recipe+" cannot be read", "name the recipe's file")
		}
		d.Recipe = string(text)
	}
	for name, text := range measured {
		var v float64
		if _, err := fmt.Sscanf(text, "%g", &v); err != nil {
			return errs.New(errs.InvalidRequest, "the metric "+errs.Clip(name)+" is "+errs.Clip(text)+", not a number", "write NAME=NUMBER")
		}
		if d.Metrics == nil {
			d.Metrics = map[string]float64{}
		}
		d.Metrics[name] = v
	}
	if key != "" {
		d.Key, err = sign.Private(key)
	}
	return err
}

// nameGiven refuses a revision that nobody has named.
func nameGiven(name string) error {
	if name == "" {
		return errs.New(errs.InvalidRequest, "the adapter has no name", "give it one with --name, such as L1").In("name")
	}
	return nil
}

// enter publishes a draft, promotes it if it is told why, and shows what it is.
func enter(e *cli.Env, cmd *cobra.Command, cfg config.Config, k *catalogue.Catalogue, d catalogue.Draft, promote string, links catalogue.Links) error {
	if err := nameGiven(d.Name); err != nil {
		return err
	}
	var now ids.Digest // the contract in force
	if promote != "" {
		var err error
		if now, err = servable(cfg, Tenant(cmd), d.Name); err != nil {
			return err
		}
	}
	p, err := k.Publish(cmd.Context(), Tenant(cmd), d)
	if err != nil {
		return err
	}
	if promote != "" {
		if _, err := k.Promote(cmd.Context(), Tenant(cmd), catalogue.Move{Name: d.Name, Revision: p.Hash, Contract: now, Version: -1, Reason: promote, By: "command", Operator: true, Links: links}); err != nil {
			return err
		}
	}
	if e.JSON {
		return e.PrintJSON(p)
	}
	fmt.Fprintln(e.Out, p.Hash)
	return nil
}

// access are the flags of registries.
func access(c *cobra.Command) *registryAccess {
	a := &registryAccess{}
	c.Flags().BoolVar(&a.PlainHTTP, "plain-http", false, "the registry speaks HTTP without TLS")
	c.Flags().StringVar(&a.User, "user", "", "at the registry")
	c.Flags().StringVar(&a.passwordFile, "password-file", "", "file of that user's password at the registry")
	return a
}

// registryAccess is how a registry is spoken to.
type registryAccess struct {
	artifact.Access
	passwordFile string
}

// repository opens what a name of a registry names.
func (a registryAccess) repository(name string) (artifact.Target, string, error) {
	if a.passwordFile != "" {
		b, err := os.ReadFile(a.passwordFile)
		if err != nil {
			return nil, "", disk.OpenError(err, a.passwordFile+" cannot be read", "name the file that has the password")
		}
		a.Password = strings.TrimSpace(string(b))
	}
	return artifact.Repository(name, a.Access)
}

func newMintExport(e *cli.Env) *cobra.Command {
	var format, tag, base string
	var state bool
	c := &cobra.Command{
		Use: "export REVISION TO", Short: "Write a revision as PEFT, GGUF, a merged model or an OCI artifact", Args: cli.Args(2, 2, "a revision, and a directory, a file or oci://HOST/REPOSITORY:TAG"),
		Example: "  macaron mint export L1@champion out\n  macaron mint export L1@champion l1.gguf --format gguf\n  macaron mint export L1@champion merged.gguf --format merged --base model.gguf\n" +
			"  macaron mint export 63afb2ac66a5 layout --format oci --state\n  macaron mint export L1@champion oci://registry.example/adapters:v3",
	}
	how := access(c)
	c.RunE = func(cmd *cobra.Command, given []string) error {
		if given[1] == "" {
			return errs.New(errs.InvalidRequest, "the export's place is an empty text", "name a directory, a file or oci://HOST/REPOSITORY:TAG")
		}
		if state && format != "oci" && !strings.HasPrefix(given[1], artifact.Prefix) {
			return errs.New(errs.InvalidRequest, "training state travels in OCI artifacts alone", "add --format oci, or leave --state out").In("state")
		}
		return withCatalogue(cmd.Context(), e, func(cfg config.Config, k *catalogue.Catalogue) error {
			hash, err := named(cmd.Context(), k, Tenant(cmd), given[0])
			if err != nil {
				return err
			}
			b, err := bundled(cmd.Context(), k, Tenant(cmd), hash)
			if err == nil && state {
				b.State, err = states(cmd.Context(), k, cfg.Home, Tenant(cmd), given[0], b.Published)
			}
			if err != nil {
				return err
			}
			digest, to := ids.Digest(""), given[1]
			switch {
			case strings.HasPrefix(to, artifact.Prefix) || format == "oci":
				digest, err = push(cmd.Context(), to, tag, *how, b)
			case format == "peft":
				err = lora.WriteFiles(to, b.Files.Config, b.Files.Tensors)
			default:
				err = convert(e, cmd, format, to, base, b.Files)
			}
			if err != nil {
				return err
			}
			if e.JSON {
				return e.PrintJSON(map[string]any{"revision": hash, "to": to, "artifact": digest, "states": len(b.State)})
			}
			fmt.Fprintf(e.Out, "%s is in %s\n", hash.Short(), to)
			return nil
		})
	}
	c.Flags().StringVar(&format, "format", "peft", "peft, gguf, merged or oci")
	c.Flags().StringVar(&tag, "tag", "latest", "in an image layout")
	c.Flags().StringVar(&base, "base", "", "file of the base for gguf and merged; empty: the configured model")
	c.Flags().BoolVar(&state, "state", false, "with the checkpoint and the optimizer state of the name that stands on it")
	return c
}

// convert writes a revision in a format that depends on the base.
func convert(e *cli.Env, cmd *cobra.Command, format, to, base string, f catalogue.Files) error {
	write, ok := map[string]func(to string, f catalogue.Files, base string) error{"gguf": catalogue.WriteGGUF, "merged": catalogue.WriteMerged}[format]
	if !ok {
		return errs.New(errs.InvalidRequest, "there is no format "+errs.Clip(format), "use peft, gguf, merged or oci").In("format")
	}
	if err := catalogue.Absent(to); err != nil {
		return err
	}
	return onBase(e, cmd, base, func(base string) error { return write(to, f, base) })
}

// onBase does something with the file of a base: of the one that is named, or of the
// configured model.
func onBase(e *cli.Env, cmd *cobra.Command, base string, do func(string) error) error {
	if base != "" {
		return do(base)
	}
	return e.WithModel(cmd, func(_ config.Config, m models.Local) error {
		if m.Path == "" {
			return errs.New(errs.InvalidRequest, "this machine's engine has no model file of its own", "name the base's file with --base")
		}
		return do(m.Path)
	})
}

// states are the training states that a pointer on a revision names; asked is how it was named.
func states(ctx context.Context, k *catalogue.Catalogue, home, owner, asked string, p adapter.Published) ([]artifact.State, error) {
	all, err := k.Pointers(ctx, owner, "")
	if err != nil {
		return nil, err
	}
	if at, ok := catalogue.Linked(all, asked, p); ok {
		return statesOf(home, at)
	}
	if p.Checkpoint != "" {
		return statesOf(home, adapter.Pointer{Checkpoint: p.Checkpoint})
	}
	return nil, errs.New(errs.NotFound, "no name on the revision "+p.Hash.Short()+" has a training checkpoint", "promote it with --checkpoint, or export without --state")
}

func statesOf(home string, p adapter.Pointer) ([]artifact.State, error) {
	var out []artifact.State
	for _, x := range []struct {
		role   string
		digest ids.Digest
	}{{"checkpoint", p.Checkpoint}, {"optimizer", p.Optimizer}} {
		if x.digest == "" {
			continue
		}
		s, err := artifact.StateOf(home, x.role, x.digest)
		if err != nil {
			return nil, err
		}
		out = append(out, s)
	}
	return out, nil
}

// bundled is a revision with all that travels with it.
func bundled(ctx context.Context, k *catalogue.Catalogue, owner string, hash ids.Digest) (b artifact.Bundle, err error) {
	if b.Published, err = k.Revision(ctx, owner, hash); err != nil {
		return b, err
	}
	if b.Files, err = k.Files(ctx, owner, hash); err != nil || b.Published.Recipe == "" {
		return b, err
	}
	b.Recipe, err = k.Recipe(ctx, owner, b.Published.Recipe)
	return b, err
}

func push(ctx context.Context, to, tag string, how registryAccess, b artifact.Bundle) (ids.Digest, error) {
	var target artifact.Target
	var err error
	if strings.HasPrefix(to, artifact.Prefix) {
		target, tag, err = how.repository(to)
	} else if err = artifact.CheckTag(tag); err == nil { // before the directory is made
		target, err = artifact.Layout(ctx, to)
	}
	if err != nil {
		return "", err
	}
	return artifact.Push(ctx, target, b, tag)
}
