package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"macaron/internal/testvectors"
)

// backend stands in for the package's build backend. Before pip keeps a source
// distribution it asks the backend for metadata; with this one on the Python path
// and build isolation off, it gets the name and version that we want, at once, and
// no code of the package or of its real backend runs.
const backend = `import os

def get_requires_for_build_wheel(config_settings=None):
    return []

def prepare_metadata_for_build_wheel(directory, config_settings=None):
    name = "%[1]s-%[2]s.dist-info"
    os.makedirs(os.path.join(directory, name))
    with open(os.path.join(directory, name, "METADATA"), "w") as f:
        f.write("Metadata-Version: 2.1\nName: %[1]s\nVersion: %[2]s\n")
    return name
`

// download fetches the source distribution into work and returns its path.
func download(ctx context.Context, python, work string) (string, error) {
	stub, out := filepath.Join(work, "stub"), filepath.Join(work, "out")
	module := filepath.Join(stub, "scikit_build_core")
	if err := os.MkdirAll(module, 0o755); err != nil {
		return "", err
	}
	name := strings.ReplaceAll(testvectors.Package, "-", "_")
	text := fmt.Sprintf(backend, name, testvectors.Version)
	for file, content := range map[string]string{"__init__.py": "", "build.py": text} {
		if err := os.WriteFile(filepath.Join(module, file), []byte(content), 0o644); err != nil {
			return "", err
		}
	}
	return pip(ctx, python, []string{"PYTHONPATH=" + stub}, out, "*.tar.gz", "--no-binary", ":all:", "--no-build-isolation", testvectors.Package+"=="+testvectors.Version)
}

// pip downloads one package into out and gives the path of its one archive.
func pip(ctx context.Context, python string, env []string, out, pattern string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, python, append([]string{"-m", "pip", "download", "--disable-pip-version-check", "--no-cache-dir", "--no-deps", "--dest", out}, args...)...)
	cmd.Env = append(os.Environ(), env...)
	cmd.Stdout, cmd.Stderr = os.Stderr, os.Stderr
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("pip could not fetch %s: %w; check the network, or for the vectors pass a copy with -sdist", args[len(args)-1], err)
	}
	found, err := filepath.Glob(filepath.Join(out, pattern))
	if err != nil || len(found) != 1 {
		return "", fmt.Errorf("pip left %d archives, want 1", len(found))
	}
	return found[0], nil
}

// checkFile compares a file with its SHA-256.
func checkFile(path, want string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close() // read-only
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return err
	}
	if got := hex.EncodeToString(h.Sum(nil)); got != want {
		return fmt.Errorf("%s has the SHA-256 %s, want %s", path, got, want)
	}
	return nil
}
