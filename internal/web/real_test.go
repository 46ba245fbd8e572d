package web_test

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"testing"

	"macaron/internal/app"
	"macaron/internal/config"
	"macaron/internal/models"
	"macaron/internal/session"
	"macaron/internal/testmodel"
)

// TestTheDefaultModelAnswersOnThePage has nothing scripted: the embedded engine runs
// the default model, with a small test adapter in the place of each specialist.
func TestTheDefaultModelAnswersOnThePage(t *testing.T) {
	home := t.TempDir()
	text, err := os.ReadFile("../../macaron.toml")
	if err != nil {
		t.Fatal(err)
	}
	lora, err := filepath.Abs("../engine/testdata/lora-r4")
	if err != nil {
		t.Fatal(err)
	}
	for _, label := range []string{"L0", "L1", "L2", "L3"} {
		text = bytes.ReplaceAll(text, []byte(`"adapters/`+label+`"`), []byte(quote(lora)))
	}
	text = bytes.ReplaceAll(text, []byte("answer_tokens = 512"), []byte("answer_tokens = 24"))
	path := filepath.Join(home, "macaron.toml")
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	cfg, err := config.Load(map[string]string{"home": home, "contract": path, "listen": "127.0.0.1:0", "queue.route_timeout": "5m", "drain": "1m"})
	if err != nil {
		t.Fatal(err)
	}
	model, _ := models.Known(models.Default)
	s := serve(t, cfg, app.Options{Model: models.Local{Name: model.Name, Path: testmodel.Path(t), Digest: model.Digest}})
	eventually(t, func() bool { status, _ := s.get(t, "/readyz"); return status == 200 }) // else the page is refused, and says so
	v := open(t, s.url, desktop)
	v.wait(`document.querySelector("#notice").hidden`)
	for i, ask := range []string{"What is the capital of France?", "And of Spain?"} {
		v.ask(ask)
		v.turns(i + 1)
		turn := s.turn(t, v.session(), i)
		if turn.Route == nil || math.Abs(sum(turn)-1) > 1e-6 {
			t.Fatalf("the route is %+v", turn.Route)
		}
		v.wait(of(last("header .label")) + ` === ` + quote(turn.Revision.Name))
		// The page shows the words of the answer; the layout of white space is its own.
		shown := v.text(of(last(".body")) + `.replace(/\W+/g, "")`)
		if want := v.text(quote(turn.Answer()) + `.replace(/\W+/g, "")`); shown != want || want == "" {
			t.Errorf("the page shows %q, the log has %q", shown, want)
		}
	}
	v.quiet()
}

func sum(t session.Turn) (total float64) {
	for _, p := range t.Route.Probabilities {
		total += p
	}
	return total
}
