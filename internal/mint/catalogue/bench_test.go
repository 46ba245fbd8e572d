package catalogue

import (
	"bytes"
	"cmp"
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
	"macaron/internal/engine/lora"
	"macaron/internal/ids"
	"macaron/internal/store/postgres"
	"macaron/internal/store/sqlite"
)

var (
	benchN     = flag.Int("revisions", 0, "revisions of BenchmarkCatalogue; 0: none")
	benchHome  = flag.String("home", "", "directory of BenchmarkCatalogue, which is kept; revisions that it has are not registered again; empty: a temporary one")
	benchStore = flag.String("postgres", "", "URL of a Postgres database for BenchmarkCatalogue; empty: SQLite")
)

// BenchmarkCatalogue registers many rank-1 revisions of one small module, looks 10,000 of
// them up, and loads 256 random ones, which must be what was registered, byte for byte.
func BenchmarkCatalogue(b *testing.B) {
	if *benchN == 0 {
		return // `make bench-catalogue` says how many
	}
	ctx, home := context.Background(), cmp.Or(*benchHome, b.TempDir())
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
	template := files(b, 0, 384)
	register(ctx, b, c, template)
	r := rand.New(rand.NewPCG(1, 2))
	some := func() (Files, ids.Digest) {
		f := numbered(template, r.IntN(*benchN))
		return f, hashOf(b, f)
	}
	report("lookup", 10000, some, func(_ Files, h ids.Digest) error {
		_, err := c.Revision(ctx, "o", h)
		return err
	})
	report("load and compare", 256, some, func(want Files, h ids.Digest) error {
		f, err := c.Files(ctx, "o", h)
		if err == nil && (!bytes.Equal(f.Tensors, want.Tensors) || !bytes.Equal(f.Config, want.Config)) {
			err = fmt.Errorf("%s is not what was registered", h)
		}
		return err
	})
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

func hashOf(b *testing.B, f Files) ids.Digest {
	content, err := lora.Parse(f.Config, f.Tensors)
	if err != nil {
		b.Fatal(err)
	}
	return content.Revision().Hash
}

// register enters what is not there yet.
func register(ctx context.Context, b *testing.B, c *Catalogue, template Files) {
	const batch = 5000
	last := numbered(template, *benchN-1)
	if _, err := c.Revision(ctx, "o", hashOf(b, last)); err == nil {
		return
	}
	began := time.Now()
	for done := 0; done < *benchN; {
		drafts := make([]Draft, min(batch, *benchN-done))
		for i := range drafts {
			drafts[i] = Draft{Files: numbered(template, done+i), Name: "a"}
		}
		if _, err := c.PublishAll(ctx, "o", drafts); err != nil {
			b.Fatal(err)
		}
		done += len(drafts)
	}
	took := time.Since(began)
	fmt.Printf("registered %d revisions of %d bytes in %.1f s: %.0f a second\n", *benchN, len(template.Config)+len(template.Tensors), took.Seconds(), float64(*benchN)/took.Seconds())
}

// report prints the quantiles of n calls.
func report(what string, n int, some func() (Files, ids.Digest), do func(Files, ids.Digest) error) {
	times := make([]time.Duration, n)
	for i := range times {
		f, h := some()
		began := time.Now()
		if err := do(f, h); err != nil {
			panic(err)
		}
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
