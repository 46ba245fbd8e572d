package web_test

import (
	"bytes"
	"encoding/base64"
	"image"
	"image/color"
	"image/png"
	"net/http"
	"strconv"
	"strings"
	"testing"
)

func colored(t *testing.T, c color.Color, side int) []byte {
	t.Helper()
	m := image.NewRGBA(image.Rect(0, 0, side, side))
	for i := range side * side {
		m.Set(i%side, i/side, c)
	}
	var b bytes.Buffer
	if err := png.Encode(&b, m); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

const shown = `[...document.querySelectorAll("img")].map((e) => e.alt + ":" + e.naturalWidth + ":" + e.src.slice(0, 15)).join(" ")`

// A card shows pictures that the tenant has put by, and those that came with the
// conversation, by name; others, of other conversations or that it makes up, it does not get.
func TestACardShowsPictures(t *testing.T) {
	const card = `import { Card } from "$ui4a/ui";

export default () => (
  <Card title="Pictures">
    <img src="asset:beach.png" alt="beach" />
    {["picture-1", "none.png"].map((name) => <img key={name} src={` + "`asset:${name}`" + `} alt={name} />)}
  </Card>
);`
	g := &script{lines: map[string]string{"card for": fenced("ui4a/tsx", card)}}
	s := start(t, t.TempDir(), g)
	put := func(name string, data []byte) int {
		t.Helper()
		r, err := http.NewRequest("PUT", s.url+"/v1/pictures/"+name, bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		resp, err := http.DefaultClient.Do(r)
		status, _ := read(t, resp, err)
		return status
	}
	if status := put("beach.png", colored(t, color.Black, 30)); status != 200 {
		t.Fatal(status)
	}
	if status := put("hidden.png", colored(t, color.Black, 31)); status != 200 {
		t.Fatal(status)
	}
	for name, data := range map[string][]byte{"..%2f..%2fup.png": colored(t, color.Black, 3), "text.png": []byte("text"), "large.png": make([]byte, 1<<20+1)} {
		if status := put(name, data); status < 400 {
			t.Errorf("%s: %d", name, status)
		}
	}
	if _, list := s.get(t, "/v1/pictures"); !sameJSON(t, list, `{"data":[{"name":"beach.png","bytes":`+count(colored(t, color.Black, 30))+`},{"name":"hidden.png","bytes":`+count(colored(t, color.Black, 31))+`}]}`) {
		t.Errorf("the list is %s", list)
	}
	address := "data:image/png;base64," + base64.StdEncoding.EncodeToString(colored(t, color.White, 20))
	status, answer := s.post(t, "/v1/chat/completions", `{"model":"macaron","messages":[{"role":"user","content":[{"type":"text","text":"Make a card for this"},{"type":"image_url","image_url":{"url":"`+address+`"}}]}]}`)
	if status != 200 {
		t.Fatalf("%d %s", status, answer)
	}
	v := open(t, s.url, desktop)
	v.wait(`document.querySelectorAll("#sessions a").length === 1`)
	v.click("#sessions a")
	v.turns(1)
	v.wait(`document.querySelector(".card iframe")?.getBoundingClientRect().height > 50`)
	d := v.inside(s)
	v.sees(d, shown+` === "beach:30:data:image/png; picture-1:20:data:image/png; none.png:0:"`)
	v.wait(of(".ui4a-notices") + `.includes('there is no picture "none.png"')`)

	id := v.session()
	turn := s.turn(t, id, 0).ID
	for name, want := range map[string]int{"beach.png": 200, "picture-1": 200, "picture-2": 400, "none.png": 404, "..%2fbeach.png": 400} {
		if status, _ := s.get(t, "/v1/cards/"+turn+"/pictures/"+name); status != want {
			t.Errorf("%s: %d", name, status)
		}
	}
	if _, answer := s.get(t, "/v1/cards/"+turn); strings.Contains(answer, "hidden.png") || !strings.Contains(answer, `"pictures":["picture-1","beach.png"]`) {
		t.Errorf("the card is %s", answer)
	}

	// Another conversation has no picture of this one.
	v = open(t, s.url, desktop)
	v.ask("Make a card for me")
	v.turns(1)
	v.sees(v.inside(s), shown+` === "beach:30:data:image/png; picture-1:0: none.png:0:"`)
}

func count(b []byte) string { return strconv.Itoa(len(b)) }

// Who attaches a picture on the page finds its name in the message; a large one is made smaller.
func TestAPictureIsAttached(t *testing.T) {
	s := start(t, t.TempDir(), &script{})
	v := open(t, s.url, desktop)
	v.text(`(async () => {
		const canvas = Object.assign(document.createElement("canvas"), {width: 2400, height: 1200});
		const at = canvas.getContext("2d"), data = at.createImageData(2400, 1200);
		for (let i = 0; i < data.data.length; i++) data.data[i] = ((i * 2654435761) >>> (i % 13)) & 255;
		at.putImageData(data, 0, 0);
		const blob = await new Promise((done) => canvas.toBlob(done));
		const files = new DataTransfer();
		files.items.add(new File([blob], "Am Strand (2).png", {type: "image/png"}));
		const input = document.querySelector("#file");
		input.files = files.files;
		input.dispatchEvent(new Event("change"));
		return "" + (blob.size > 1048576);
	})()`)
	v.wait(`/^A picture, am-strand-2-[a-z0-9]{4}\.jpg\. A card shows it as <img src="asset:am-strand-2-[a-z0-9]{4}\.jpg">\.$/.test(document.querySelector("#prompt").value)`)
	if _, list := s.get(t, "/v1/pictures"); !strings.Contains(list, `"name":"am-strand-2-`) {
		t.Errorf("the list is %s", list)
	}
	v.text(`(() => {
		const files = new DataTransfer();
		files.items.add(new File(["text"], "a.txt", {type: "text/plain"}));
		const input = document.querySelector("#file");
		input.files = files.files;
		input.dispatchEvent(new Event("change"));
		return "";
	})()`)
	v.wait(of("#notice") + `.includes("That file is no picture")`)
}
