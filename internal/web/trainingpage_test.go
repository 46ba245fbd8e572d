package web_test

import (
	"bytes"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"macaron/internal/app"
	"macaron/internal/browser"
	"macaron/internal/disk"
	"macaron/internal/obs"
	"macaron/internal/train/curve"
)

// A recipe's run on a page of its own: it is opened before the first step, lines that come appear,
// and so do those of a run that goes on from a checkpoint.
func TestOneRunIsWatchedLive(t *testing.T) {
	work := filepath.Join(t.TempDir(), "<b>mine.work")
	metrics := filepath.Join(work, curve.File)
	page := app.NewCurvePage(app.RecipeRun(metrics, 0), app.Options{Log: obs.Discard()})
	s := httptest.NewServer(page.Handler())
	t.Cleanup(s.Close)
	t.Cleanup(s.CloseClientConnections)
	step := func(n int, resumed float64) {
		t.Helper()
		x := float64(n)
		l := curve.Line{"step": x, "planned": 100, "loss": 10 / x, "reward": x / 10, "kl": 0, "learning_rate": 1e-4, "grad_norm": 2}.Stamp(time.Unix(1e9+int64(n), 0), 500, time.Second)
		if resumed > 0 {
			l["resumed"], l["time"] = resumed, l["time"]+1e6
		}
		if err := curve.Append(metrics, l); err != nil {
			t.Fatal(err)
		}
	}
	v := look(t, s.URL, browser.View{Width: 1180, Height: 800})
	v.wait(of("#run p") + ` === "Its first step comes soon." && document.querySelectorAll("#sessions a").length === 1`)
	step(1, 0)
	v.wait(of(".about strong") + ` === "1 of 100 steps"`)
	for n := 2; n <= 4; n++ {
		step(n, 0)
		v.wait(of(".about strong") + ` === "` + strconv.Itoa(n) + ` of 100 steps, 2 min left" && ` + of(`[data-metric="reward"] strong`) + ` === "0.` + strconv.Itoa(n) + `"`)
	}
	for _, name := range []string{"loss", "reward", "kl", "tokens_per_second", "memory_bytes"} {
		if d := v.text(`document.querySelector('[data-metric="` + name + `"] .curve').getAttribute("d")`); len(d) < 20 {
			t.Errorf("the curve of %s is %q", name, d)
		}
	}
	if v.text(of("#title")) != "<b>mine.work" || v.number(`document.querySelectorAll("#run b, #sessions b").length`) != 0 {
		t.Error("a name became markup")
	}
	text, err := os.ReadFile(metrics)
	if err != nil {
		t.Fatal(err)
	}
	kept := bytes.Join(bytes.SplitAfter(text, []byte("\n"))[:2], nil)
	if err := disk.Replace(metrics, kept, 0o600); err != nil { // as a run does that goes on behind its second step
		t.Fatal(err)
	}
	v.wait(of(".about strong") + ` === "2 of 100 steps, 2 min left"`)
	step(3, 2)
	step(4, 2)
	v.wait(of(".about strong") + ` === "4 of 100 steps, 2 min left"`) // however long it lay
	if n := v.number(`document.querySelector('[data-metric="loss"] .curve').getAttribute("d").split("L").length`); n != 4 {
		t.Errorf("the curve has %d points", n)
	}
	v.quiet()
}
