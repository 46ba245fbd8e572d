package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// packagePath finds the innermost npm package in the path of an input of the bundle.
var packagePath = regexp.MustCompile(`^.*node_modules/((?:@[^/]+/)?[^/]+)/`)

// inside gives the npm packages that a bundle has code of, by esbuild's own account, as
// directories below modules, sorted.
func inside(metafile, modules string) ([]string, error) {
	var meta struct {
		Outputs map[string]struct {
			Inputs map[string]struct {
				Bytes int `json:"bytesInOutput"`
			} `json:"inputs"`
		} `json:"outputs"`
	}
	if err := json.Unmarshal([]byte(metafile), &meta); err != nil {
		return nil, err
	}
	var found []string
	for _, out := range meta.Outputs {
		for path := range out.Inputs {
			if m := packagePath.FindString(filepath.ToSlash(path)); m != "" {
				_, below, _ := strings.Cut(m, "node_modules/")
				found = append(found, strings.TrimSuffix(below, "/"))
			}
		}
	}
	slices.Sort(found)
	return slices.Compact(found), nil
}

// allowed are the licences under which code may be in the bundle.
var allowed = []string{"MIT", "ISC", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "0BSD"}

// licences gives name, version, licence and licence text of each package.
func licences(modules string, packages []string) ([]byte, error) {
	var b strings.Builder
	fmt.Fprintf(&b, "The runtime of cards contains code of these %d packages.\n", len(packages))
	for _, dir := range packages {
		text, err := licence(filepath.Join(modules, filepath.FromSlash(dir)))
		if err != nil {
			return nil, err
		}
		b.WriteString("\n" + strings.Repeat("=", 72) + "\n" + text)
	}
	return []byte(b.String()), nil
}

func licence(dir string) (string, error) {
	var about struct{ Name, Version, License string }
	b, err := os.ReadFile(filepath.Join(dir, "package.json"))
	if err == nil {
		err = json.Unmarshal(b, &about)
	}
	if err != nil {
		return "", err
	}
	if !slices.Contains(allowed, about.License) {
		return "", fmt.Errorf("%s %s: the licence %q is none of %v", about.Name, about.Version, about.License, allowed)
	}
	head := fmt.Sprintf("%s %s, %s\n\n", about.Name, about.Version, about.License)
	entries, err := os.ReadDir(dir)
	if err != nil {
		return "", err
	}
	for _, e := range entries {
		if name := strings.ToLower(e.Name()); strings.HasPrefix(name, "licen") {
			text, err := os.ReadFile(filepath.Join(dir, e.Name()))
			return head + strings.TrimSpace(strings.ReplaceAll(string(text), "\r\n", "\n")) + "\n", err
		}
	}
	return head + "The package names its licence and has no file with the text.\n", nil
}
