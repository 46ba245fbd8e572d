package runtime_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"macaron/internal/browser"
	"macaron/internal/ui4a/runtime"
)

// attack is one of testdata/attacks.js, without its code.
type attack struct {
	name        string
	solo, click bool
}

func attacksText(t *testing.T) string {
	t.Helper()
	b, err := os.ReadFile("testdata/attacks.js")
	if err != nil {
		t.Fatal(err)
	}
	return strings.Replace(string(b), "export const", "const", 1)
}

var attackLine = regexp.MustCompile(`(?m)^  "([^"]+)": \{ (solo: true, )?(click: true, )?run:`)

func allAttacks(t *testing.T) []attack {
	t.Helper()
	var all []attack
	for _, m := range attackLine.FindAllStringSubmatch(attacksText(t), -1) {
		all = append(all, attack{m[1], m[2] != "", m[3] != ""})
	}
	if len(all) < 150 {
		t.Fatalf("only %d attacks were read", len(all))
	}
	return all
}

// runner runs some attacks and tells of each under the key "ran" what came of it: x is
// what they work with.
const runner = `
const wait = (ms) => new Promise((done) => setTimeout(done, ms));
const slug = (name) => name.replace(/[^a-z0-9]+/gi, "-").toLowerCase();
async function attempt(name, base) {
	const x = {...base, u: (path = "") => "http://127.0.0.1:" + base.tcp + "/" + slug(name) + "/" + path, dns: slug(name) + ".dns.test"};
	try {
		const out = await Promise.race([attacks[name].run(x), wait(900).then(() => "pending")]);
		return typeof out === "string" ? out : "nothing";
	} catch (e) { return "threw " + e; }
}`

// attackCard is a card that runs attacks: the gentle ones all at once when it is mounted,
// those that need a click when it is clicked. Marks are told before an attack that may
// end the document.
func attackCard(t *testing.T, list []attack, base map[string]any) string {
	t.Helper()
	var names []string
	for _, a := range list {
		names = append(names, a.name)
		if strings.Contains(a.name, "runtime's script in") {
			base["runtime"] = runtime.Script()
		}
	}
	listText, _ := json.Marshal(names)
	baseText, _ := json.Marshal(base)
	body := `
const [ran, setRan] = S.usePersistedState("ran", {}), [, probe] = S.usePersistedState("probe", 0), [, undeclared] = S.usePersistedState("undeclared", 0);
const [drawn, draw] = R.useState(null);
const x = {...base, chat: C, ui: U, modules: m, draw: (type, props) => draw([type, props]), set: (k, v) => ({probe, undeclared})[k](v)};
const go = async () => { for (const n of names) { const tell = (r) => setRan((all) => ({...all, [n]: r})); if (attacks[n].solo) { tell("started"); await wait(600); } attempt(n, x).then(tell); } };
R.useEffect(() => { if (!names.some((n) => attacks[n].click)) go(); }, []);
return h("div", {style: {height: 200}}, h("button", {style: {position: "absolute", left: 0, top: 0, width: 100, height: 40}, onClick: go}, "go"), drawn && h(...drawn));`
	return fmt.Sprintf("(() => { %s\n%s\nconst names = %s, base = %s;\n%s })()", attacksText(t), runner, listText, baseText, card("attack", "a", body))
}

// groups puts attacks together: each list of a group runs in one document, the documents
// of a group at the same time.
func groups(all []attack) [][][]attack {
	var out [][][]attack
	var gentle, clicked []attack
	var alone [][]attack
	for _, a := range all {
		switch {
		case a.solo && a.click:
			out = append(out, [][]attack{{a}})
		case a.solo:
			alone = append(alone, []attack{a})
		case a.click:
			clicked = append(clicked, a)
		default:
			gentle = append(gentle, a)
		}
	}
	out = append(out, [][]attack{clicked})
	out = append(out, slices.Collect(slices.Chunk(alone, 9))...)
	return append(out, slices.Collect(slices.Chunk(gentle, 30)))
}

// TestNoAttackGetsOut runs every attack of testdata/attacks.js in Chromium. Each marks
// that it ran; nothing may reach the collector, no name may be looked up.
func TestNoAttackGetsOut(t *testing.T) {
	netlog := filepath.Join(t.TempDir(), "net.json")
	b, err := browser.Start(t.Context(), browser.Flag{Name: "log-net-log", Value: netlog}, browser.Flag{Name: "net-log-capture-mode", Value: "Everything"},
		browser.Flag{Name: "disable-background-networking", Value: false}) // it would hide preconnects
	if err != nil {
		t.Fatal(err)
	}
	c, server := collect(t), rigServer(t)
	r := openRig(t, b, server.URL)
	outcomes := map[string]string{}
	for _, g := range groups(allAttacks(t)) {
		r.attack(g, c, server.URL, outcomes)
	}
	r.run(`rig.close()`)
	time.Sleep(500 * time.Millisecond) // what is on its way arrives
	r.verdict(outcomes)
	if hits := c.all(); len(hits) > 0 {
		t.Errorf("this got out: %q", hits)
	}
	control(t, b, c)
	b.Close()
	lookups(t, netlog)
	if out := os.Getenv("UI4A_OUTCOMES"); out != "" {
		text, _ := json.MarshalIndent(outcomes, "", " ")
		_ = os.WriteFile(out, text, 0o644)
	}
}

// attack runs a group, each list in a surface of its own, and waits for the marks.
func (r *rig) attack(group [][]attack, c *collector, url string, outcomes map[string]string) {
	r.t.Helper()
	tcp, udp := c.ports()
	r.run(`rig.state.ran = {}, rig.painted = [], rig.close()`)
	n := 0
	for _, list := range group {
		n += len(list)
		script := attackCard(r.t, list, map[string]any{"tcp": tcp, "udp": udp, "own": url + "/stolen"})
		r.run(fmt.Sprintf(`rig.add(), rig.surface.show({revision: "attack", script: %s, source: "", keys: rig.keys(["ran", "probe"])})`, quoteJS(script)))
	}
	if group[0][0].click {
		r.wait(`rig.painted.length`)
		r.at(20, 20)
	}
	r.wait(fmt.Sprintf(`Object.keys(rig.state.ran).length === %d`, n))
	if group[0][0].solo {
		time.Sleep(700 * time.Millisecond) // it runs a quarter of a second after its mark
	}
	ran, err := browser.Eval[map[string]string](r.Page, `rig.state.ran`)
	r.must(err)
	for name, outcome := range ran {
		outcomes[name] = outcome
	}
}

func quoteJS(s string) string {
	b, _ := json.Marshal(s)
	return string(b)
}

// verdict looks at what the attacks and the page say.
func (r *rig) verdict(outcomes map[string]string) {
	r.t.Helper()
	for name, outcome := range outcomes {
		if strings.HasPrefix(outcome, "reached") {
			r.t.Errorf("%s: %s", name, outcome)
		}
	}
	if n := len(allAttacks(r.t)); len(outcomes) != n {
		r.t.Errorf("%d of %d attacks ran", len(outcomes), n)
	}
	if said := r.text(`JSON.stringify([rig.actions, rig.state.undeclared ?? null, ({}).polluted ?? null, location.hash, document.title])`); said != `[[],null,null,"","rig"]` {
		r.t.Errorf("the page was reached: %s", said)
	}
	if tabs := r.text(`String(rig.ticks > 20)`); tabs != "true" {
		r.t.Error("the page stood still")
	}
}

// lookups finds names that the browser was asked to resolve. The control's is there, or
// the log proves nothing.
func lookups(t *testing.T, netlog string) {
	t.Helper()
	b, err := os.ReadFile(netlog)
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]bool{}
	for _, m := range regexp.MustCompile(`[a-z0-9-]+\.dns\.test`).FindAllString(string(b), -1) {
		found[m] = true
	}
	if !found["control.dns.test"] {
		t.Error("the log of the network does not have the control's name")
	}
	delete(found, "control.dns.test")
	if len(found) > 0 {
		t.Errorf("names were looked up: %v", found)
	}
}

// controls are attacks that do get out of a frame without the boundary: what sees nothing
// above would see them.
var controls = []string{"fetch", "img", "css url", "WebRTC", "location", "meta refresh", "link preconnect"}

func control(t *testing.T, b *browser.Browser, c *collector) {
	t.Helper()
	p, err := b.ProfilePage(browser.View{Width: 800, Height: 600})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	if err := p.Open(controlServer(t, c)); err != nil {
		t.Fatal(err)
	}
	awaitControl(t, c)
}

// controlServer gives the address of a page whose frames run the controls.
func controlServer(t *testing.T, c *collector) string {
	t.Helper()
	tcp, udp := c.ports()
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		for i := range controls {
			fmt.Fprintf(w, `<iframe sandbox="allow-scripts" src="/bare?%d"></iframe>`, i)
		}
	})
	mux.HandleFunc("GET /bare", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprintf(w, `<head><link rel=preconnect href="http://control.dns.test"></head><body><script>%s%s; attempt(%q, {tcp: %d, udp: %d})</script>`,
			strings.ReplaceAll(attacksText(t), "</script", `<\/script`), runner, controls[int(r.URL.RawQuery[0]-'0')], tcp, udp)
	})
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return server.URL
}

// awaitControl waits until each kind of contact has come.
func awaitControl(t *testing.T, c *collector) {
	t.Helper()
	for _, want := range []string{"/fetch/", "/img/", "/css-url/", "/location/", "/meta-refresh/", "datagram", "connection"} {
		for end := time.Now().Add(time.Minute); !c.has(want); time.Sleep(20 * time.Millisecond) {
			if time.Now().After(end) {
				t.Errorf("the control %s does not reach the collector: %q", want, c.all())
				break
			}
		}
	}
}
