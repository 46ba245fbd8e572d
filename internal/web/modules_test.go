package web_test

import (
	"encoding/json"
	"errors"
	"reflect"
	"testing"
)

func quote(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return string(b)
}

// The parts of the page that have no elements are tested as they are, in the browser.

func TestTextIsCutIntoBlocks(t *testing.T) {
	s := start(t, t.TempDir(), &script{})
	v := open(t, s.url, desktop)
	for text, want := range map[string]string{
		"plain":                        `[{"kind":"text","text":"plain"}]`,
		"a\n```go\nx\n```\nb":          `[{"kind":"text","text":"a"},{"kind":"code","lang":"go","text":"x"},{"kind":"text","text":"b"}]`,
		"```\nopen\nend":               `[{"kind":"code","lang":"","text":"open\nend"}]`,
		"````\n```\n````":              "[{\"kind\":\"code\",\"lang\":\"\",\"text\":\"```\"}]",
		"~~~py\n```\n~~~":              "[{\"kind\":\"code\",\"lang\":\"py\",\"text\":\"```\"}]",
		"inline ```not a fence``` end": "[{\"kind\":\"text\",\"text\":\"inline ```not a fence``` end\"}]",
		"":                             `[]`,
	} {
		got := v.text(`import("/assets/text.js").then((m) => JSON.stringify(m.blocks(` + quote(text) + `)))`)
		if !sameJSON(t, got, want) {
			t.Errorf("%q gives %s, want %s", text, got, want)
		}
	}
}

func TestEventsAreReadWhateverWayTheyArrive(t *testing.T) {
	s := start(t, t.TempDir(), &script{})
	v := open(t, s.url, desktop)
	stream := ": note\r\n\r\ndata: {\"a\":1}\n\ndata:x\ndata: y\r\n\r\nevent: e\rdata: é\r\rdata: [DONE]\n\ndata: cut"
	for _, size := range []string{"1", "2", "3", "7", "1000"} {
		got := v.text(`(async () => {
			const {events} = await import("/assets/api.js");
			const bytes = new TextEncoder().encode(` + quote(stream) + `);
			const body = new ReadableStream({start(c) {
				for (let i = 0; i < bytes.length; i += ` + size + `) c.enqueue(bytes.slice(i, i + ` + size + `));
				c.close();
			}});
			const all = [];
			for await (const data of events(body)) all.push(data);
			return JSON.stringify(all);
		})()`)
		if want := `["{\"a\":1}","x\ny","é","[DONE]"]`; got != want {
			t.Errorf("in pieces of %s bytes: %s, want %s", size, got, want)
		}
	}
}

func TestTheTreeShowsOnePath(t *testing.T) {
	s := start(t, t.TempDir(), &script{})
	v := open(t, s.url, desktop)
	got := v.text(`(async () => {
		const {Tree, historyOf} = await import("/assets/tree.js");
		const user = (text) => ({role: "user", content: text});
		const says = (text) => ({role: "assistant", content: text});
		const turn = (id, parent, text, more) => ({id, parent, status: "delivered", messages: [user(text)], trace: [says("re " + text)], ...more});
		const tree = new Tree();
		tree.merge([
			turn("1", "", "a"),
			turn("2", "1", "b", {status: "interrupted", trace: [], partial: "cu"}),
			turn("3", "1", "c", {imported: [user("b"), says("cu")]}),
			turn("4", "1", "d"),
		]);
		const ids = () => tree.path().map((t) => t.id).join("");
		const out = [ids()];
		tree.choose(tree.byKey("3"));
		out.push(ids(), historyOf(tree.path()).map((m) => m.content).join("|"));
		tree.choose(tree.byKey("4"));
		out.push(ids(), String(tree.siblings(tree.byKey("4")).length));
		return out.join(" ");
	})()`)
	if want := "14 123 a|re a|b|cu|c|re c 14 2"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// Judgements in a row are recorded in that row, however long each takes.
func TestJudgementsKeepTheirOrder(t *testing.T) {
	s := start(t, t.TempDir(), &script{})
	v := open(t, s.url, desktop)
	got := v.text(`(async () => {
		const {Conversation} = await import("/assets/conversation.js");
		const asked = [], answer = [], whole = window.fetch;
		window.fetch = (path, o) => {
			if (!String(path).includes("/v1/feedback")) return whole(path, o);
			asked.push(JSON.parse(o.body).score);
			return new Promise((done) => answer.push(() => done(new Response("{}"))));
		};
		const c = new Conversation("", () => {}), turn = {id: "t"};
		const all = [1, -1, 0].map((score) => c.judge(turn, score)), out = [];
		for (const kept of all) {
			while (!answer.length) await new Promise((done) => setTimeout(done, 10));
			await new Promise((done) => setTimeout(done, 30)); // in which no other may come
			out.push(asked.join());
			answer.shift()();
			await kept;
		}
		return out.join(" ");
	})()`)
	if want := "1 1,-1 1,-1,0"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func sameJSON(t *testing.T, a, b string) bool {
	t.Helper()
	var x, y any
	if err := errors.Join(json.Unmarshal([]byte(a), &x), json.Unmarshal([]byte(b), &y)); err != nil {
		t.Fatalf("%v: %s, %s", err, a, b)
	}
	return reflect.DeepEqual(x, y)
}
