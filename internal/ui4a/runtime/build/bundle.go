package main

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/evanw/esbuild/pkg/api"
)

// The files of dist.
const (
	script = "runtime.js"
	style  = "runtime.css"
	terms  = "LICENSES.txt"
	sums   = "SHA256SUMS"
)

// bundle gives the files of dist by name.
func bundle(dir, modules string) (map[string][]byte, error) {
	built, err := esbuild(dir, modules, "src/entry.ts")
	if err != nil {
		return nil, err
	}
	sheet, err := esbuild(dir, modules, "src/style/index.css")
	if err != nil {
		return nil, err
	}
	small, err := minify(utilities())
	if err != nil {
		return nil, err
	}
	packages, err := inside(built.Metafile, modules)
	if err != nil {
		return nil, err
	}
	texts, err := licences(modules, packages)
	if err != nil {
		return nil, err
	}
	files := map[string][]byte{script: built.OutputFiles[0].Contents, style: append(sheet.OutputFiles[0].Contents, small...), terms: texts}
	files[sums] = checksums(files)
	return files, nil
}

// esbuild bundles one entry into one minified classic script or stylesheet. No path of
// this machine enters the result.
func esbuild(dir, modules, entry string) (api.BuildResult, error) {
	root, err := filepath.Abs(dir)
	if err != nil {
		return api.BuildResult{}, err
	}
	packages, err := filepath.Abs(modules)
	if err != nil {
		return api.BuildResult{}, err
	}
	r := api.Build(api.BuildOptions{
		AbsWorkingDir:     root,
		EntryPoints:       []string{entry},
		NodePaths:         []string{packages},
		Bundle:            true,
		Write:             false,
		Metafile:          true,
		Outdir:            "out",
		Format:            api.FormatIIFE,
		Target:            api.ES2022,
		Platform:          api.PlatformBrowser,
		JSX:               api.JSXAutomatic,
		MinifyWhitespace:  true,
		MinifyIdentifiers: true,
		MinifySyntax:      true,
		LegalComments:     api.LegalCommentsNone,
		Charset:           api.CharsetASCII,
		Define:            map[string]string{"process.env.NODE_ENV": `"production"`},
		TsconfigRaw:       `{"compilerOptions":{"jsx":"react-jsx"}}`,
	})
	if err := complaints(r.Errors, r.Warnings); err != nil {
		return r, err
	}
	if len(r.OutputFiles) != 1 {
		return r, fmt.Errorf("%s gives %d files instead of one", entry, len(r.OutputFiles))
	}
	return r, nil
}

// minify makes a stylesheet small.
func minify(css string) ([]byte, error) {
	r := api.Transform(css, api.TransformOptions{Loader: api.LoaderCSS, MinifyWhitespace: true, MinifySyntax: true})
	return r.Code, complaints(r.Errors, r.Warnings)
}

// complaints gives what esbuild said as one error: a warning stops the build too.
func complaints(kinds ...[]api.Message) error {
	var lines []string
	for _, messages := range kinds {
		lines = append(lines, api.FormatMessages(messages, api.FormatMessagesOptions{})...)
	}
	if len(lines) == 0 {
		return nil
	}
	return errors.New(strings.Join(lines, "\n"))
}

// checksums gives the lines that sha256sum -c reads.
func checksums(files map[string][]byte) []byte {
	var lines []string
	for name, text := range files {
		lines = append(lines, fmt.Sprintf("%x  %s\n", sha256.Sum256(text), name))
	}
	slices.SortFunc(lines, func(a, b string) int { return strings.Compare(a[64:], b[64:]) })
	return []byte(strings.Join(lines, ""))
}

// packed gives a text's size as gzip, in bytes.
func packed(text []byte) int {
	var b bytes.Buffer
	w, _ := gzip.NewWriterLevel(&b, gzip.BestCompression)
	_, _ = w.Write(text)
	_ = w.Close()
	return b.Len()
}
