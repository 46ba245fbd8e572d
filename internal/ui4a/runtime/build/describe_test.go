package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"macaron/internal/ui4a/library"
)

func TestTableIsWhatTheSourcesGive(t *testing.T) {
	got, err := describe("../src")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, library.JSON()) {
		t.Errorf("library.json is not what src gives; make ui4a-runtime writes it:\n%s", cmp.Diff(string(library.JSON()), string(got)))
	}
}

const index = "// Things\nexport * from \"./thing\";\n"

const thing = `export interface ThingProps {
  /** what it is called */
  label: string;
  tone?: "a" | "b";
  size?: "a" | number;
}

/** Shows a thing. */
export function Thing(p: ThingProps) {
}

/** Doubles it. */
export function double<T extends number>(n: T): (x: T) => T {
}
`

// sources gives a directory with one module.
func sources(t *testing.T, index, thing string) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "ui"), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"index.ts": index, "thing.tsx": thing} {
		if err := os.WriteFile(filepath.Join(dir, "ui", name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestSourcesAreReadWhole(t *testing.T) {
	m, err := module(sources(t, index, thing), "ui")
	if err != nil {
		t.Fatal(err)
	}
	want := library.Module{Name: "$ui4a/ui", Doc: "Things", Exports: []library.Export{
		{Name: "Thing", Kind: library.Component, Doc: "Shows a thing.", Props: []library.Prop{
			{Name: "label", Type: "string", Required: true, Doc: "what it is called"},
			{Name: "tone", Type: `"a" | "b"`, Values: []string{"a", "b"}},
			{Name: "size", Type: `"a" | number`},
		}},
		{Name: "double", Kind: library.Function, Doc: "Doubles it.", Signature: "<T extends number>(n: T): (x: T) => T"},
	}}
	if d := cmp.Diff(want, m); d != "" {
		t.Error(d)
	}
}

func TestSourcesOfAnotherStyleAreRefused(t *testing.T) {
	for _, c := range []struct{ index, thing, want string }{
		{"export * from \"./thing\";\n", thing, "no comment that says what the module is"},
		{index, strings.Replace(thing, "/** Shows a thing. */\n", "", 1), "Thing is exported without a line of doc comment"},
		{index, strings.Replace(thing, "interface ThingProps", "interface OtherProps", 1), "Thing has no interface ThingProps"},
		{index, strings.Replace(thing, "  label: string;\n", "  label:\n    string;\n", 1), "neither a prop nor its doc comment"},
		{index, thing + "export const other = 1;\n", "other is exported without"},
		{strings.Replace(index, "./thing", "./missing", 1), thing, "missing"},
	} {
		if _, err := describe(sources(t, c.index, c.thing)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("got %v, want %q", err, c.want)
		}
	}
}
