package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"macaron/cmd/macaron/cli"
	"macaron/internal/app"
	"macaron/internal/disk"
	"macaron/internal/errs"
	"macaron/internal/train/curve"
)

// measured adds steps of a recipe's run of four to its metrics, one each ten seconds.
func measured(t *testing.T, path string, from, to int, resumed, later float64) {
	t.Helper()
	for step := from; step <= to; step++ {
		l := curve.Line{"step": float64(step), "planned": 4, "time": 1e9 + later + 10*float64(step), "seconds": 5, "loss": 2}
		if resumed > 0 {
			l["resumed"] = resumed
		}
		if err := curve.Append(path, l); err != nil {
			t.Fatal(err)
		}
	}
}

// lines hands out what a command prints, line by line.
func lines(ctx context.Context, t *testing.T, args ...string) (next func() string, end func() int) {
	t.Helper()
	out, code := make(chan string, 100), make(chan int, 1)
	w := writer(func(p []byte) (int, error) { out <- string(p); return len(p), nil })
	go func() {
		code <- execute(ctx, args, &cli.Env{In: strings.NewReader(""), Out: w, Err: w})
		close(out)
	}()
	return func() string { return <-out }, func() int { return <-code }
}

// A recipe's run says by itself how many steps it will have. Who watches it is let go when it is
// over, and not before; the days that it lay are not its pace.
func TestWatchOfARecipeEndsWithIt(t *testing.T) {
	work := t.TempDir()
	path := filepath.Join(work, curve.File)
	lock, err := os.Create(filepath.Join(work, "lock"))
	if err != nil {
		t.Fatal(err)
	}
	if free, err := disk.TryLock(lock); err != nil || !free { // it trains
		t.Fatal(free, err)
	}
	if out, code := ran(t, t.TempDir(), "mint", "watch", work, "--once"); code != 0 || out != "" { // nothing is measured yet
		t.Fatalf("exit %d %s", code, out)
	}
	measured(t, path, 1, 3, 0, 0)
	next, end := lines(t.Context(), t, "--home", t.TempDir(), "mint", "watch", work)
	want := func(all ...string) {
		t.Helper()
		for _, line := range all {
			if got := next(); got != line+"\n" {
				t.Fatalf("%q, not %q", got, line)
			}
		}
	}
	want("step 1/4 loss 2.0000, 15s left", "step 2/4 loss 2.0000, 20s left", "step 3/4 loss 2.0000, 10s left")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := disk.Replace(path, text[:strings.IndexByte(string(text), '\n')+1], 0o600); err != nil { // it goes on behind its first step
		t.Fatal(err)
	}
	measured(t, path, 2, 2, 1, 1e6)
	want("step 2/4 loss 2.0000, 10s left")
	measured(t, path, 3, 4, 1, 1e6)
	want("step 3/4 loss 2.0000, 10s left", "step 4/4 loss 2.0000")
	if err := curve.Append(path, curve.Line{"step": 4, "planned": 4, "time": 2e9, "held_out_loss": 3}); err != nil {
		t.Fatal(err)
	}
	want("step 4/4 held_out_loss 3.0000")
	if err := lock.Close(); err != nil {
		t.Fatal(err)
	}
	if code := end(); code != 0 || next() != "" {
		t.Errorf("exit %d", code)
	}
}

// What a person says goes before what the lines say.
func TestStepsOfAPersonGoFirst(t *testing.T) {
	path := filepath.Join(t.TempDir(), curve.File)
	measured(t, path, 1, 3, 0, 0)
	if out, code := ran(t, t.TempDir(), "mint", "watch", path, "--steps", "2"); code != 0 || out != "step 1/2 loss 2.0000, 5s left\nstep 2/2 loss 2.0000\n" {
		t.Errorf("%d %q", code, out)
	}
}

// MLflow is told that a run was stopped, until it has gone on to its end.
func TestMLflowOfAStoppedRecipe(t *testing.T) {
	flags, dir := tiny(t), t.TempDir()
	conversations(t, dir)
	path := recipeOf(t, dir, "sft", "sft", "talk.jsonl", "")
	for _, c := range []struct {
		args []string
		want string
	}{{[]string{path, "--stop-after", "1"}, "status: 5\n"}, {[]string{path}, "status: 3\n"}} {
		trained(t, flags, c.args...)
		code, out, failed := invoke(t, "", append(flags, "mint", "mlflow", filepath.Join(dir, "sft.out.work"), "--out", filepath.Join(dir, "mlruns"))...)
		meta, err := os.ReadFile(filepath.Join(strings.TrimSpace(out), "meta.yaml"))
		if code != 0 || err != nil || !strings.Contains(string(meta), c.want) {
			t.Errorf("%v: exit %d, %v, no %q in %s %s", c.args, code, err, c.want, meta, failed)
		}
	}
}

var pageAddress = regexp.MustCompile(`http://127\.0\.0\.1:\d+`)

// read gives what a page answers.
func read(t *testing.T, url string) string {
	t.Helper()
	resp, err := http.Get(url)
	if err != nil {
		t.Error(err)
		return ""
	}
	defer resp.Body.Close() // read to its end
	b, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Errorf("%s: %d %v", url, resp.StatusCode, err)
	}
	return string(b)
}

// A page shows one run, of a recipe or of the home, until it is interrupted.
func TestARunOnAPage(t *testing.T) {
	work := filepath.Join(t.TempDir(), "mine.work")
	measured(t, filepath.Join(work, curve.File), 1, 3, 0, 0)
	home := watchedRun(t, "ses_1:train:0", "base", `{"steps":10}`)
	for _, c := range []struct {
		run, id, says string
		args          []string
	}{
		{work, "mine.work", `"planned":4`, nil}, {filepath.Join(work, curve.File), "mine.work", `"planned":9`, []string{"--steps", "9"}},
		{"ses_1:train:0", "ses_1:train:0", `"planned":10`, nil}, {"ses_1:train:0", "ses_1:train:0", `"planned":9`, []string{"--steps", "9"}},
	} {
		ctx, stop := context.WithCancel(t.Context())
		next, end := lines(ctx, t, append([]string{"--home", home, "mint", "watch", c.run, "--page"}, c.args...)...)
		told := next()
		base := pageAddress.FindString(told)
		if told != c.id+" is shown on "+base+"/training#"+c.id+"\n" {
			t.Fatalf("%q", told)
		}
		if got := read(t, base+"/v1/training/runs/"+c.id); !strings.Contains(got, c.says) || !strings.Contains(got, `"step":3`) || !strings.Contains(got, `"steps":3`) {
			t.Errorf("%s %v: %s", c.run, c.args, got)
		}
		if !strings.Contains(read(t, base), "training.js") {
			t.Errorf("%s has no page", c.run)
		}
		stop()
		if code := end(); code != 0 {
			t.Errorf("exit %d: %s", code, next())
		}
	}
	if err := os.Remove(app.Curves(home).Path("local", "ses_1:train:0")); err != nil { // as before its first step
		t.Fatal(err)
	}
	if out, code := ran(t, home, "mint", "watch", "ses_1:train:0", "--once"); code != 0 || out != "" {
		t.Errorf("nothing is measured yet: exit %d %s", code, out)
	}
}

func TestAPageThatCannotBe(t *testing.T) {
	work := t.TempDir()
	measured(t, filepath.Join(work, curve.File), 1, 1, 0, 0)
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	recipe := recipeOf(t, t.TempDir(), "sft", "sft", "talk.jsonl", "")
	for args, want := range map[string]errs.Code{
		"mint watch no --page": errs.NotFound, "mint watch " + work + " --page --once": errs.InvalidRequest, "mint watch " + work + " --page=": errs.InvalidRequest,
		"mint watch " + work + " --page=0.0.0.0:0": errs.Forbidden, "mint watch " + work + " --page=" + taken.Addr().String(): errs.AddressInUse,
		"train " + recipe + " --page=0.0.0.0:0": errs.Forbidden, "train " + recipe + " --page=" + taken.Addr().String(): errs.AddressInUse,
	} {
		out, code := ran(t, t.TempDir(), append(strings.Fields(args), "--json")...)
		if code != want.Exit() || !strings.Contains(out, `"code": "`+string(want)+`"`) {
			t.Errorf("%s: exit %d %s", args, code, out)
		}
	}
}

// The page of a recipe is there before its first step, and as long as the process that trains.
func TestTrainingOnAPage(t *testing.T) {
	flags, dir := tiny(t), t.TempDir()
	conversations(t, dir)
	path := recipeOf(t, dir, "sft", "sft", "talk.jsonl", "")
	var base, first string
	var out strings.Builder
	w := writer(func(p []byte) (int, error) {
		if at := pageAddress.FindString(string(p)); at != "" {
			base, first = at, read(t, at+"/v1/training/runs/sft.out.work")
		}
		return out.Write(p)
	})
	code := execute(t.Context(), append(flags, "train", path, "--page"), &cli.Env{In: strings.NewReader(""), Out: w, Err: w})
	if want := fmt.Sprintf("sft.out.work is shown on %s/training#sft.out.work\n%s\nrevision ", base, filepath.Join(dir, "sft.out")); code != 0 || !strings.HasPrefix(out.String(), want) {
		t.Errorf("exit %d: %s", code, out.String())
	}
	if !strings.Contains(first, `"data":[]`) {
		t.Errorf("before the first step: %s", first)
	}
	if resp, err := http.Get(base); err == nil {
		t.Errorf("the page outlives the training: %d", resp.StatusCode)
		resp.Body.Close()
	}
}
