package mcpapp

import (
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"path"
	"strings"
	"sync"

	esbuild "github.com/evanw/esbuild/pkg/api"

	"macaron/internal/errs"
	"macaron/internal/ui4a/runtime"
)

//go:embed view
var files embed.FS

// View is the document of the view: the host's side of a surface as one script, and the
// frame's document as a text that the script puts into a frame of its own. It is the same
// bytes for everybody and loads nothing.
var View = sync.OnceValue(func() string {
	script := bundle()
	style, err := runtime.HostFile("host.css")
	if err != nil {
		panic(err) // it is embedded
	}
	return "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\"><title>Card</title>" + policy(viewPolicy(script)) +
		"<meta name=\"color-scheme\" content=\"light dark\"><style>" + string(style) + "body{margin:0;font:14px/1.5 system-ui,sans-serif}.ui4a-surface{margin:0}</style></head><body><main id=\"place\"></main>" +
		"<template id=\"frame\">" + escaped.Replace(frame()) + "</template><script>" + script + "</script></body></html>\n"
})

// viewPolicy holds also where a host gives none: the view's script and the runtime by their
// hashes, cards from addresses of the view's own, no connection, and no place that a frame
// in the view could be led to. The frame's document inherits it.
func viewPolicy(script string) string {
	sum := sha256.Sum256([]byte(script))
	return "default-src 'none'; script-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "' '" + runtime.ScriptHash() + "' blob:; " +
		"style-src 'unsafe-inline'; img-src data: blob:; font-src data:; connect-src 'none'; frame-src 'none'; form-action 'none'; base-uri 'none'"
}

// frame is the document that a card runs in, with its policies in itself, since no server
// gives it. What only a header can say is left out; the frame's element says the rest.
func frame() string {
	head := "<!doctype html><html lang=\"en\"><head><title>Card</title>"
	for _, p := range runtime.FramePolicies() {
		head += policy(inDocument(p))
	}
	return head + "<style>" + runtime.Style() + "</style></head><body><script>" + runtime.Script() + "</script></body></html>"
}

func policy(text string) string {
	return "<meta http-equiv=\"Content-Security-Policy\" content=\"" + text + "\">"
}

// inDocument leaves out of a policy what only a header can say.
func inDocument(policy string) string {
	var kept []string
	for _, d := range strings.Split(policy, "; ") {
		if !strings.HasPrefix(d, "sandbox") && !strings.HasPrefix(d, "frame-ancestors") {
			kept = append(kept, d)
		}
	}
	return strings.Join(kept, "; ")
}

// escaped makes a document the text of an element.
var escaped = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")

// bundle makes one script of the view's modules and those of hosts of surfaces.
func bundle() string {
	out := esbuild.Build(esbuild.BuildOptions{
		EntryPoints: []string{"./main.js"}, Bundle: true, Format: esbuild.FormatIIFE, MinifyWhitespace: true, Outfile: "view.js",
		Plugins: []esbuild.Plugin{{Name: "embedded", Setup: embedded}}, LogLevel: esbuild.LogLevelSilent, Charset: esbuild.CharsetUTF8,
	})
	if len(out.Errors) > 0 {
		panic(errs.New(errs.Internal, "the view of MCP Apps cannot be bundled: "+out.Errors[0].Text, "")) // a test makes it
	}
	return strings.ReplaceAll(string(out.OutputFiles[0].Contents), "</script", "<\\/script")
}

// embedded finds modules in this package, then among the runtime's for hosts.
func embedded(b esbuild.PluginBuild) {
	b.OnResolve(esbuild.OnResolveOptions{Filter: `^\./`}, func(a esbuild.OnResolveArgs) (esbuild.OnResolveResult, error) {
		return esbuild.OnResolveResult{Path: path.Base(a.Path), Namespace: "embedded"}, nil
	})
	b.OnLoad(esbuild.OnLoadOptions{Filter: `.`, Namespace: "embedded"}, func(a esbuild.OnLoadArgs) (esbuild.OnLoadResult, error) {
		body, err := files.ReadFile("view/" + a.Path)
		if err != nil {
			body, err = runtime.HostFile(a.Path)
		}
		source := string(body)
		return esbuild.OnLoadResult{Contents: &source, Loader: esbuild.LoaderJS}, err
	})
}
