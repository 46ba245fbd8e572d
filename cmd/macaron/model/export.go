package model

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"macaron/cmd/macaron/cli"
	"macaron/internal/config"
	"macaron/internal/disk"
	"macaron/internal/engine/token"
	"macaron/internal/engine/weights/gguf"
	"macaron/internal/errs"
	"macaron/internal/models"
)

func newModelExport(e *cli.Env) *cobra.Command {
	var force bool
	c := &cobra.Command{
		Use:   "export-tokenizer DIR",
		Short: "Write a model's tokenizer as tokenizer.json and its companions",
		Long: "Writes tokenizer.json, tokenizer_config.json (with the chat template), special_tokens_map.json and\n" +
			"generation_config.json, from which the transformers library makes a tokenizer that gives the same ids\n" +
			"as the model file. Other files of these names are left alone unless --force is given.",
		Example: "  macaron model export-tokenizer ./tokenizer\n  macaron model export-tokenizer ./tokenizer --model ./other.gguf",
		Args:    cli.Args(1, 1, "one directory"),
		RunE: func(cmd *cobra.Command, given []string) error {
			return e.WithFetcher(func(f *models.Fetcher, cfg config.Config) error {
				return exportTokenizer(cmd.Context(), e, f, cfg.Model, given[0], force)
			})
		},
	}
	c.Flags().BoolVar(&force, "force", false, "replace files of these names that have other content")
	return c
}

func exportTokenizer(ctx context.Context, e *cli.Env, f *models.Fetcher, what, dir string, force bool) error {
	local, err := f.Resolve(ctx, what)
	if err != nil {
		return err
	}
	if info, err := os.Stat(local.Path); err == nil && info.IsDir() {
		return errs.New(errs.InvalidRequest, local.Path+" is a directory, which has its tokenizer.json", "copy the files from there, or name a GGUF file")
	}
	g, err := gguf.Open(local.Path)
	if err != nil {
		return err
	}
	defer g.Close() // read-only
	files, err := token.Export(g.Meta)
	if err != nil {
		return err
	}
	if err := writeFiles(dir, files, force); err != nil {
		return err
	}
	tok, err := token.FromGGUF(g.Meta)
	if err != nil {
		return err
	}
	return exported(e, local.Name, dir, tok, files)
}

// writeFiles writes all files or none: it looks before it writes, and each file is seen
// old or new. tokenizer.json comes last.
func writeFiles(dir string, files []token.File, force bool) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return disk.Error(err, dir+" cannot be made")
	}
	var foreign []string
	for _, f := range files {
		old, err := os.ReadFile(filepath.Join(dir, f.Name))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return disk.Error(err, filepath.Join(dir, f.Name)+" cannot be read")
		}
		if err == nil && !bytes.Equal(old, f.Bytes) {
			foreign = append(foreign, f.Name)
		}
	}
	if len(foreign) > 0 && !force {
		return errs.New(errs.InvalidRequest, fmt.Sprintf("%s has other files of these names: %s", dir, strings.Join(foreign, ", ")),
			"name another directory, or give --force to replace them")
	}
	for _, f := range files {
		if err := disk.Replace(filepath.Join(dir, f.Name), f.Bytes, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// exported tells what was written.
func exported(e *cli.Env, name, dir string, tok *token.Tokenizer, files []token.File) error {
	var names []string
	total := int64(0)
	for _, f := range files {
		names = append(names, f.Name)
		total += int64(len(f.Bytes))
	}
	if e.JSON {
		return e.PrintJSON(map[string]any{"model": name, "directory": dir, "files": names, "bytes": total, "tokens": tok.Vocab(), "hash": tok.Hash()})
	}
	fmt.Fprintf(e.Out, "%s: %s tokens, %s in %s\n  %s\n", name, cli.Thousands(int64(tok.Vocab())), models.Size(total), dir, strings.Join(names, ", "))
	return nil
}
