package browser

import (
	"net/http"
	"net/http/httptest"
	"testing"
)

// The page covers the outer frame until a click has met the cover; that frame holds another, and
// that one a sandboxed third, which has a process of its own.
const nested = `<title>t</title><body style="margin:0"><iframe src="/outer" style="position:absolute;left:20px;top:30px;width:300px;height:200px;border:5px solid"></iframe>
<div style="position:absolute;inset:0" onclick="this.remove()"></div>`

const outer = `<body style="margin:0"><iframe style="position:absolute;left:7px;top:9px;width:250px;height:150px;border:0"
	srcdoc="<body style='margin:0'><iframe sandbox='allow-scripts' src='/frame' style='position:absolute;left:1px;top:2px;width:200px;height:100px;border:0'></iframe>"></iframe>`

func TestAClickIsMadeUntilTheFrameHearsIt(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = w.Write([]byte(map[string]string{"/": nested, "/outer": outer, "/frame": `<body style="margin:0"><button disabled style="width:100px;height:40px">no</button><br><button style="width:100px;height:40px" onclick="parent.parent.parent.postMessage(1, '*')">b</button>`}[r.URL.Path]))
	}))
	defer server.Close()
	p := phone(t, server.URL)
	if _, err := Eval[bool](p, `(window.told = 0, addEventListener("message", () => told++), true)`); err != nil {
		t.Fatal(err)
	}
	must(t, p.ClickIn(50, 60, "iframe", "iframe", "iframe"))
	must(t, p.Wait(`told === 1`))
	must(t, p.ClickIn(50, 20, "iframe", "iframe", "iframe")) // what is disabled hears it too, and does nothing
	if told, err := Eval[int](p, `told`); err != nil || told != 1 {
		t.Errorf("the button was pressed %d times, %v", told, err)
	}
}
