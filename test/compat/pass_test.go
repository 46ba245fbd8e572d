package compat

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// passing starts a server that has another one train the default model.
func passing(t *testing.T, program, backend, dialect string) *server {
	t.Helper()
	home := t.TempDir()
	config := fmt.Sprintf("[[mint.backends]]\nname = \"there\"\nbases = [\"HuggingFaceTB/SmolLM2-135M-Instruct\"]\nurl = %q\ndialect = %q\n", backend, dialect)
	if err := os.WriteFile(filepath.Join(home, "config.toml"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	return serveIn(t, home, program)
}

// A server that passes everything on to another one, under the newest and the oldest SDK; in
// the other dialect than the client's too. make compat-tinker has all of them. The lists of both are what they are without it.
func TestTrainingElsewhere(t *testing.T) {
	program := build(t)
	there := serve(t, program)
	t.Setenv("MACARON_ELSEWHERE", "1")
	type client struct{ version, dialect, scenarios string }
	clients := []client{{"0.38.0", "auto", "train,samples,listings,both"}, {"0.6.0", "proto", "train,forward_only,samples"}}
	if os.Getenv("MACARON_TINKER") != "" {
		clients = nil
		for _, version := range []string{"0.38.0", "0.24.1", "0.15.0", "0.6.0"} {
			for _, dialect := range []string{"auto", "json", "proto"} {
				clients = append(clients, client{version, dialect, trained})
			}
		}
	}
	for _, c := range clients {
		t.Run(c.version+" "+c.dialect, func(t *testing.T) {
			front := passing(t, program, there.base, c.dialect)
			front.tinker(t, c.version, "", c.scenarios)
			if strings.Contains(front.log.String(), "level=ERROR") {
				t.Errorf("the server's log:\n%s", front.log)
			}
			if !strings.Contains(front.log.String(), "trained elsewhere is in the catalogue") {
				t.Errorf("no adapter came into the catalogue:\n%s", front.log)
			}
		})
	}
}
