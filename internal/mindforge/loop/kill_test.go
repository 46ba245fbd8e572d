package loop

import (
	"bufio"
	"errors"
	"math/rand/v2"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"testing"
	"time"

	"macaron/internal/mindforge/ledger"
)

// small is a run of two generations for many repetitions.
func small() Settings {
	return settings(func(s *Settings) {
		s.Generations, s.Discovery.Tasks, s.Expansion.Attempts, s.Expansion.Coverage, s.Batch = 2, 24, 240, 2, 60
	})
}

var digits = regexp.MustCompile(`[0-9]+|[0-9a-f]{64}`)

// The loop's process is killed with SIGKILL at every named boundary in turn: whoever goes on comes
// to the ledger of a run that nobody disturbed.
func TestKillAtEveryBoundary(t *testing.T) {
	if os.Getenv("MOMENTS") != "" {
		return // of make forge-kill: random moments alone
	}
	calm := newSite(t, small())
	calm.run(t, "POINTS="+calm.path("points"))
	want := calm.entries(t)
	f, err := os.Open(calm.path("points"))
	must(t, err)
	defer f.Close()
	seen, scan := map[string]bool{}, bufio.NewScanner(f)
	s := newSite(t, small())
	for scan.Scan() {
		kind := digits.ReplaceAllString(scan.Text(), "N")
		if seen[kind] || kind == "attempt" || kind == "step" {
			continue
		}
		seen[kind] = true
		killed(t, s.start(t, "KILL="+scan.Text()), scan.Text())
	}
	s.run(t)
	if len(seen) < 20 {
		t.Errorf("only %d boundaries", len(seen))
	}
	must(t, ledger.Equal(want, s.entries(t)))
	once(t, s.entries(t))
	t.Logf("killed at %d boundaries", len(seen))
}

func killed(t *testing.T, p *exec.Cmd, at string) {
	t.Helper()
	var end *exec.ExitError
	if err := p.Wait(); !errors.As(err, &end) || end.ExitCode() != -1 {
		t.Fatalf("nothing was killed at %s: %v", at, err)
	}
}

// The loop's process is killed at random moments, as often as MOMENTS says.
func TestKillAtRandomMoments(t *testing.T) {
	moments := 4
	if n, err := strconv.Atoi(os.Getenv("MOMENTS")); err == nil {
		moments = n
	}
	calm := newSite(t, small())
	began := time.Now()
	calm.run(t)
	takes := time.Since(began)
	want := calm.entries(t)
	r := rand.New(rand.NewPCG(1, uint64(moments)))
	kills, runs := 0, 0
	for kills < moments {
		s := newSite(t, small())
		for range 10 {
			p := s.start(t)
			time.Sleep(time.Duration(r.Float64() * float64(takes)))
			must(t, p.Process.Kill())
			if p.Wait() != nil {
				kills++
			}
			if kills == moments {
				break
			}
		}
		s.run(t)
		runs++
		must(t, ledger.Equal(want, s.entries(t)))
		once(t, s.entries(t))
	}
	t.Logf("%d kills in %d runs, each with the ledger of a run that nobody disturbed (%d entries)", kills, runs, len(want))
}

// once fails where a revision or a release was made twice.
func once(t *testing.T, all []ledger.Entry) {
	t.Helper()
	made := map[string]int{}
	for _, e := range all {
		b, err := e.Decode()
		must(t, err)
		if m, ok := b.(ledger.Made); ok && (m.What == "revision" || m.What == "release") {
			if made[m.What+string(m.Hash)]++; made[m.What+string(m.Hash)] > 1 {
				t.Errorf("%s %s was made twice", m.What, m.Hash.Short())
			}
		}
	}
}
