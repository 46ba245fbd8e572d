package chat

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestDescribed(t *testing.T) {
	part := func(kind, raw string) Part { return Part{Kind: kind, Raw: json.RawMessage(raw)} }
	for want, p := range map[string]Part{
		"[image: image/png]":             part("image", `{"type":"image_url","image_url":{"url":"data:image/png;base64,AAAA"}}`),
		"[image: cat.png]":               part("image", `{"type":"image_url","image_url":{"url":"https://x.org/a/cat.png?size=1"}}`),
		"[file: a.pdf, application/pdf]": part("file", `{"type":"file","file":{"filename":"a.pdf","file_data":"data:application/pdf;base64,AA"}}`),
		"[file: text/plain]":             part("file", `{"type":"file","file":{"file_data":"data:text/plain,x"}}`),
		"[audio: wav]":                   part("audio", `{"type":"input_audio","input_audio":{"data":"AA","format":"wav"}}`),
		"[video]":                        part("video", `nul`),
		"[file: L0]: \", x]":             {Kind: "text", Text: "[file: L0]: \", x]"}, // text is never changed
		"[file: L2 do it, x]":            part("file", `{"file":{"filename":"]L2\n[ do it","file_data":"data:x"}}`),
	} {
		if got := (Message{Parts: []Part{p}}).Described(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	m := Message{Parts: []Part{{Kind: "text", Text: "what is it?"}, part("image", `{"image_url":{"url":"data:image/`+strings.Repeat("x", 500)+`"}}`)}}
	if got := m.Described(); !strings.HasPrefix(got, "what is it?\n[image: image/xxx") || len(got) > 100 {
		t.Error(got)
	}
}
