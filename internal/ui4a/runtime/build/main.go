// Command build makes the runtime of cards from its sources and from installed npm
// packages: make ui4a-runtime calls it. With -check it writes nothing and compares what
// it would write with what is there.
package main

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
)

func main() {
	dir := flag.String("dir", "internal/ui4a/runtime", "the directory with src and dist")
	modules := flag.String("modules", ".cache/ui4a-runtime/node_modules", "where npm has installed the packages")
	table := flag.String("library", "internal/ui4a/library/library.json", "the table of what cards may import")
	check := flag.Bool("check", false, "compare, write nothing")
	flag.Parse()
	if err := run(*dir, *modules, *table, *check); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(dir, modules, table string, check bool) error {
	files, err := bundle(dir, modules)
	if err != nil {
		return err
	}
	described, err := describe(filepath.Join(dir, "src"))
	if err != nil {
		return err
	}
	out := map[string][]byte{table: described}
	for name, text := range files {
		out[filepath.Join(dir, "dist", name)] = text
	}
	report(files)
	if check {
		return compare(out)
	}
	return write(out)
}

func write(files map[string][]byte) error {
	for path, text := range files {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, text, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// compare gives an error that names the files that differ.
func compare(files map[string][]byte) error {
	var differ []string
	for path, want := range files {
		if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, want) {
			differ = append(differ, path)
		}
	}
	slices.Sort(differ)
	if len(differ) > 0 {
		return fmt.Errorf("not what the sources give: %v; run make ui4a-runtime and commit what it writes", differ)
	}
	fmt.Println("every byte is what the sources give")
	return nil
}

func report(files map[string][]byte) {
	for _, name := range []string{script, style} {
		fmt.Printf("%-12s %7.1f KB, %6.1f KB as gzip\n", name, float64(len(files[name]))/1000, float64(packed(files[name]))/1000)
	}
}
