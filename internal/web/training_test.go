package web_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strconv"
	"testing"
	"time"

	"macaron/internal/browser"
	"macaron/internal/errs"
	"macaron/internal/mint"
	"macaron/internal/train/curve"
	"macaron/internal/web"
	"macaron/internal/wire/curves"
)

// trained are training runs that a test makes up; what is measured of them is in real files.
type trained []mint.Model

func (all trained) Models(_ context.Context, owner string, _ mint.Page) (out []mint.Model, total int, err error) {
	for _, m := range all {
		if m.Owner == owner {
			out = append(out, m)
		}
	}
	return out, len(out), nil
}

func (all trained) Model(_ context.Context, owner, id string) (mint.Model, error) {
	for _, m := range all {
		if m.Owner == owner && m.ID == id {
			return m, nil
		}
	}
	return mint.Model{}, errs.New(errs.NotFound, "there is no such training run", "")
}

const trainedRun = "ses_01:train:0"

// training serves the page and its interface over runs of the owners o and p.
func training(t *testing.T) (address string, files curve.Runs) {
	t.Helper()
	files = curve.Runs{Dir: t.TempDir()}
	runs := trained{{ID: trainedRun, Owner: "o", Base: "<b>base</b>", Steps: 3, Created: time.Unix(1e9, 0), Metadata: []byte(`{"steps":"100","a":1}`)}, {ID: "ses_02:train:0", Owner: "p"}}
	return trainingOf(t, files, runs), files
}

// trainingOf serves the page over these runs.
func trainingOf(t *testing.T, files curve.Runs, runs trained) (address string) {
	t.Helper()
	fail := func(w http.ResponseWriter, err error) { w.WriteHeader(errs.As(err).Code.Status()) }
	owner := func(*http.Request) string { return "o" }
	mux := http.NewServeMux()
	mux.Handle("/", web.Handler(web.Deps{Fail: fail, Owner: owner}))
	mux.Handle("/v1/training/", curves.Handler(curves.Deps{Runs: func() (curves.Runs, error) { return runs, nil }, Lines: files.Lines, Owner: owner, Fail: fail}))
	s := httptest.NewServer(mux)
	t.Cleanup(s.Close)
	t.Cleanup(s.CloseClientConnections)
	return s.URL
}

func add(t *testing.T, files curve.Runs, step int) {
	t.Helper()
	x := float64(step)
	l := curve.Line{"step": x, "loss": 10 / x, "reward": x / 10, "kl": 0, "learning_rate": 1e-4, "grad_norm": 2}.Stamp(time.Unix(1e9+int64(step), 0), 500, time.Second)
	if err := files.Add("o", trainedRun, l); err != nil {
		t.Fatal(err)
	}
}

func TestTrainingIsWatchedLive(t *testing.T) {
	address, files := training(t)
	for step := 1; step <= 3; step++ {
		add(t, files, step)
	}
	for _, view := range []browser.View{desktop, {Width: 390, Height: 844, Touch: true, Dark: true}} {
		v := look(t, address+"/training", view)
		v.wait(`document.querySelectorAll("#sessions a").length === 1`)
		v.must(v.page.Open(address + "/training#" + trainedRun))
		v.must(v.page.Reload())
		v.wait(`document.querySelectorAll(".chart").length === 7`)
		for _, name := range []string{"loss", "reward", "kl", "tokens_per_second", "memory_bytes"} {
			if d := v.text(`document.querySelector('[data-metric="` + name + `"] .curve').getAttribute("d")`); len(d) < 20 {
				t.Errorf("the curve of %s is %q", name, d)
			}
		}
		steps := int(v.number(`Number.parseInt(document.querySelector(".about strong").textContent)`))
		add(t, files, steps+1) // live: nobody loads the page again
		v.wait(of(".about strong") + ` === "` + strconv.Itoa(steps+1) + ` of 100 steps, 2 min left" && ` + of(`[data-metric="reward"] strong`) + ` === "0.` + strconv.Itoa(steps+1) + `"`)
		if wide := int(v.number(`document.documentElement.scrollWidth`)); wide > view.Width {
			t.Errorf("the page is %d px wide", wide)
		}
		if v.number(`document.querySelectorAll("#run b, #sessions b").length`) != 0 {
			t.Error("a name became markup")
		}
		v.quiet()
	}
}

func TestTrainingRunsOfOthersDoNotExist(t *testing.T) {
	address, _ := training(t)
	for path, want := range map[string]int{
		"/v1/training/runs/ses_02:train:0": 404, "/v1/training/runs/ses_02:train:0/events": 404, "/v1/training/runs/" + trainedRun + "?at=-1": 400,
		"/v1/training/runs/" + trainedRun: 200,
	} {
		resp, err := http.Get(address + path)
		if err != nil {
			t.Fatal(err)
		}
		if resp.StatusCode != want {
			t.Errorf("%s: %d", path, resp.StatusCode)
		}
		if err := resp.Body.Close(); err != nil {
			t.Error(err)
		}
	}
}
