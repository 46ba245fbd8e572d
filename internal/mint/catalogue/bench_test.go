package catalogue

import (
	"bytes"
	"context"
	"encoding/binary"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"macaron/internal/clock"
	"macaron/internal/ids"
	"macaron/internal/store/postgres"
	"macaron/internal/store/sqlite"
)

var (
	benchN     = flag.Int("revisions", 0, "revisions of BenchmarkCatalogue; 0: none")
	benchStore = flag.String("postgres", "", "URL of a Postgres database for BenchmarkCatalogue; empty: SQLite")
)

// BenchmarkCatalogue registers many rank-1 revisions of one small module, looks 10,000 of
// them up, and loads 256 random ones, which must be what was registered, byte for byte.
func BenchmarkCatalogue(b *testing.B) {
	if *benchN == 0 {
		return // `make bench-catalogue` says how many
	}
	ctx, home := context.Background(), b.TempDir()
	store, closing, err := benchOpen(ctx, home)
	if err != nil {
		b.Fatal(err)
	}
	defer closing()
	c, err := Open(Options{Home: home, Store: store, Clock: clock.System{}, Parents: DefaultParents})
	if err != nil {
		b.Fatal(err)
	}
	defer c.Close()
	const batch = 5000
	hashes := make([]ids.Digest, 0, *benchN)
	template := files(b, 0, 256)
	began := time.Now()
	for len(hashes) < *benchN {
		drafts := make([]Draft, min(batch, *benchN-len(hashes)))
		for i := range drafts {
			drafts[i] = Draft{Files: numbered(template, len(hashes)+i), Name: "a"}
		}
		all, err := c.PublishAll(ctx, "o", drafts)
		if err != nil {
			b.Fatal(err)
		}
		for _, p := range all {
			hashes = append(hashes, p.Hash)
		}
	}
	took := time.Since(began)
	fmt.Printf("registered %d revisions of %d bytes in %.1f s: %.0f a second\n", len(hashes), len(template.Config)+len(template.Tensors), took.Seconds(), float64(len(hashes))/took.Seconds())
	r := rand.New(rand.NewPCG(1, 2))
	report("lookup", 10000, func() { lookup(b, c, hashes[r.IntN(len(hashes))]) })
	report("load", 10000, func() { load(b, c, template, r.IntN(len(hashes)), hashes, false) })
	report("load and compare", 256, func() { load(b, c, template, r.IntN(len(hashes)), hashes, true) })
	for _, dir := range []string{"log.db", "log.db-wal", filepath.FromSlash(shardsDir)} {
		fmt.Printf("%s: %.0f MB\n", dir, float64(sizeOf(filepath.Join(home, dir)))/1e6)
	}
}

func benchOpen(ctx context.Context, home string) (Store, func() error, error) {
	if *benchStore != "" {
		s, err := postgres.Open(ctx, postgres.Options{URL: *benchStore})
		return s, s.Close, err
	}
	s, err := sqlite.Open(ctx, sqlite.Options{Path: filepath.Join(home, "log.db")})
	return s, s.Close, err
}

// numbered are the files with one value replaced, so that each number has its own content.
func numbered(f Files, n int) Files {
	t := bytes.Clone(f.Tensors)
	binary.LittleEndian.PutUint32(t[len(t)-4:], math.Float32bits(float32(n)))
	return Files{Config: f.Config, Tensors: t}
}

func lookup(b *testing.B, c *Catalogue, h ids.Digest) {
	if _, err := c.Revision(context.Background(), "o", h); err != nil {
		b.Fatal(err)
	}
}

func load(b *testing.B, c *Catalogue, template Files, n int, hashes []ids.Digest, compare bool) {
	f, err := c.Files(context.Background(), "o", hashes[n])
	if err != nil {
		b.Fatal(err)
	}
	if want := numbered(template, n); compare && (!bytes.Equal(f.Tensors, want.Tensors) || !bytes.Equal(f.Config, want.Config)) {
		b.Fatalf("revision %d is not what was registered", n)
	}
}

// report prints the quantiles of n calls.
func report(what string, n int, do func()) {
	times := make([]time.Duration, n)
	for i := range times {
		began := time.Now()
		do()
		times[i] = time.Since(began)
	}
	slices.Sort(times)
	fmt.Printf("%s: n %d, p50 %v, p99 %v, max %v\n", what, n, times[n/2], times[n*99/100], times[n-1])
}

func sizeOf(path string) (n int64) {
	_ = filepath.WalkDir(path, func(_ string, e os.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			if info, err := e.Info(); err == nil {
				n += info.Size()
			}
		}
		return nil
	})
	return n
}
