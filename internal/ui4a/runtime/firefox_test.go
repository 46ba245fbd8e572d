//go:build firefox

package runtime_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"macaron/internal/ui4a/runtime"
)

// marionette speaks to a Firefox by its own remote protocol: LENGTH:[0, id, command, arguments].
type marionette struct {
	t    *testing.T
	conn net.Conn
	in   *bufio.Reader
	id   int
}

func startFirefox(t *testing.T) *marionette {
	t.Helper()
	profile := t.TempDir()
	// Firefox takes a port that is free and tells which in its profile.
	const prefs = "user_pref(\"marionette.port\", 0);\nuser_pref(\"network.proxy.type\", 0);\nuser_pref(\"media.peerconnection.ice.loopback\", true);\n"
	if err := os.WriteFile(filepath.Join(profile, "user.js"), []byte(prefs), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("firefox-esr", "--headless", "--marionette", "--no-remote", "--profile", profile)
	cmd.Env = append(os.Environ(), "HOME="+profile)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // its processes write into the profile: all end together
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		_ = cmd.Wait()
		for end := time.Now().Add(10 * time.Second); syscall.Kill(-cmd.Process.Pid, 0) == nil && time.Now().Before(end); {
			time.Sleep(10 * time.Millisecond)
		}
	})
	for end := time.Now().Add(60 * time.Second); time.Now().Before(end); time.Sleep(200 * time.Millisecond) {
		port, err := os.ReadFile(filepath.Join(profile, "MarionetteActivePort"))
		if err != nil {
			continue
		}
		if conn, err := net.Dial("tcp4", "127.0.0.1:"+strings.TrimSpace(string(port))); err == nil {
			m := &marionette{t: t, conn: conn, in: bufio.NewReader(conn)}
			m.read() // its greeting
			m.call("WebDriver:NewSession", map[string]any{})
			return m
		}
	}
	t.Fatal("Firefox does not listen")
	return nil
}

func (m *marionette) read() []byte {
	m.t.Helper()
	length, err := m.in.ReadString(':')
	if err != nil {
		m.t.Fatal(err)
	}
	n, err := strconv.Atoi(strings.TrimSuffix(length, ":"))
	if err != nil {
		m.t.Fatal(err)
	}
	body := make([]byte, n)
	if _, err := io.ReadFull(m.in, body); err != nil {
		m.t.Fatal(err)
	}
	return body
}

func (m *marionette) call(command string, arguments any) json.RawMessage {
	m.t.Helper()
	m.id++
	body, err := json.Marshal([]any{0, m.id, command, arguments})
	if err != nil {
		m.t.Fatal(err)
	}
	if _, err := fmt.Fprintf(m.conn, "%d:%s", len(body), body); err != nil {
		m.t.Fatal(err)
	}
	var answer [4]json.RawMessage
	if err := json.Unmarshal(m.read(), &answer); err != nil {
		m.t.Fatal(err)
	}
	if string(answer[2]) != "null" {
		m.t.Fatalf("%s: %.600s", command, answer[2])
	}
	return answer[3]
}

// eval gives the value of an expression in the page, as JSON.
func (m *marionette) eval(expression string) string {
	m.t.Helper()
	got := m.call("WebDriver:ExecuteScript", map[string]any{"script": "const rig = window.wrappedJSObject?.rig ?? window.rig; return JSON.stringify(" + expression + ")", "args": []any{}, "sandbox": nil, "newSandbox": false})
	var v struct{ Value *string }
	if err := json.Unmarshal(got, &v); err != nil || v.Value == nil {
		return "null"
	}
	return *v.Value
}

func (m *marionette) wait(expression string) bool {
	m.t.Helper()
	for end := time.Now().Add(12 * time.Second); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		if m.eval("!!("+expression+")") == "true" {
			return true
		}
	}
	return false
}

func (m *marionette) click(x, y int) {
	m.t.Helper()
	steps := []any{map[string]any{"type": "pointerMove", "x": x, "y": y, "duration": 0}, map[string]any{"type": "pointerDown", "button": 0}, map[string]any{"type": "pointerUp", "button": 0}}
	m.call("WebDriver:PerformActions", map[string]any{"actions": []any{map[string]any{"type": "pointer", "id": "mouse", "parameters": map[string]any{"pointerType": "mouse"}, "actions": steps}}})
}

// TestNoAttackGetsOutOfFirefox runs the same attacks, and reports rather than fails where
// docs/formats/ui4a-boundary.md states a difference: connections without a request.
func TestNoAttackGetsOutOfFirefox(t *testing.T) {
	m, c, server := startFirefox(t), collect(t), rigServer(t)
	m.call("WebDriver:Navigate", map[string]any{"url": server.URL})
	m.wait("rig")
	outcomes := map[string]string{}
	tcp, udp := c.ports()
	for _, group := range groups(allAttacks(t)) {
		m.eval(`(rig.state.ran = {}, rig.painted.length = 0, rig.close(), 1)`)
		n, before := 0, len(c.all())
		for _, list := range group {
			n += len(list)
			script := attackCard(t, list, map[string]any{"tcp": tcp, "udp": udp, "own": server.URL + "/stolen"})
			m.eval(fmt.Sprintf(`(rig.add(), rig.surface.show({revision: "attack", script: %s, source: "", keys: rig.keys(["ran", "probe"])}), 1)`, quoteJS(script)))
		}
		m.wait(`rig.painted.length`)
		if group[0][0].click {
			var at []float64
			_ = json.Unmarshal([]byte(m.eval(`(() => { const b = document.querySelector("iframe").getBoundingClientRect(); return [b.x, b.y]; })()`)), &at)
			m.click(int(at[0])+20, int(at[1])+20)
		}
		whole := m.wait(fmt.Sprintf(`Object.keys(rig.state.ran).length === %d`, n))
		time.Sleep(700 * time.Millisecond)
		ran := map[string]string{}
		_ = json.Unmarshal([]byte(m.eval(`rig.state.ran`)), &ran)
		for name, outcome := range ran {
			outcomes[name] = outcome
		}
		if hits := c.all()[before:]; !whole || len(hits) > 0 {
			t.Logf("%v...: %d of %d ran; this came: %q", group[0][0].name, len(ran), n, hits)
		}
	}
	for name, outcome := range outcomes {
		if strings.HasPrefix(outcome, "reached") {
			t.Errorf("%s: %s", name, outcome)
		}
	}
	for _, h := range c.all() {
		if h != "connection" {
			t.Errorf("this got out: %q", h)
		}
	}
	t.Logf("%d of %d attacks ran; %d connections without a request", len(outcomes), len(allAttacks(t)), len(c.all()))
	if said := m.eval(`[rig.actions, rig.state.undeclared ?? null, ({}).polluted ?? null, location.hash]`); said != `[[],null,null,""]` {
		t.Errorf("the page was reached: %s", said)
	}
	m.call("WebDriver:Navigate", map[string]any{"url": controlServer(t, c)})
	awaitControl(t, c)
	if out := os.Getenv("UI4A_OUTCOMES"); out != "" {
		text, _ := json.MarshalIndent(outcomes, "", " ")
		_ = os.WriteFile(out, text, 0o644)
	}
}

// What Firefox alone has: the element within a closed shadow tree at which an event began,
// whose value a card would read.
func TestFirefoxTellsNoInnerTarget(t *testing.T) {
	m := startFirefox(t)
	m.call("WebDriver:Navigate", map[string]any{"url": rigServer(t).URL + runtime.FramePath})
	got := m.eval(`((w, e) => [!!w.__ui4a, e.originalTarget, e.explicitOriginalTarget, e.composedTarget, e.rangeParent].map(String))(window.wrappedJSObject ?? window, new (window.wrappedJSObject ?? window).MouseEvent("click"))`)
	if got != `["true","undefined","undefined","undefined","undefined"]` {
		t.Errorf("events have %s", got)
	}
}
