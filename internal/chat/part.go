package chat

import (
	"encoding/json"
	"fmt"
	"strings"
)

// linked is what is read of a part that is not text.
type linked struct {
	Image struct {
		URL string `json:"url"`
	} `json:"image_url"`
	File struct {
		Name string `json:"filename"`
		Data string `json:"file_data"`
	} `json:"file"`
	Audio struct {
		Format string `json:"format"`
	} `json:"input_audio"`
}

func (p Part) linked() (l linked) {
	_ = json.Unmarshal(p.Raw, &l) // the zero value says that nothing is known
	return l
}

// Address is where an engine would fetch the part's bytes from, a data: URL that holds them,
// or "".
func (p Part) Address() string {
	if p.Kind != "image" {
		return ""
	}
	return p.linked().Image.URL
}

// described is a few words about a part that is not text.
func (p Part) described() string {
	l := p.linked()
	switch {
	case p.Kind == "image" && strings.HasPrefix(l.Image.URL, "data:"):
		return "[image: " + typeOf(l.Image.URL) + "]"
	case p.Kind == "image":
		return "[image: " + clip(lastOf(l.Image.URL)) + "]"
	case p.Kind == "file" && l.File.Name != "":
		return fmt.Sprintf("[file: %s, %s]", clip(l.File.Name), typeOf(l.File.Data))
	case p.Kind == "file":
		return "[file: " + typeOf(l.File.Data) + "]"
	case p.Kind == "audio":
		return "[audio: " + clip(l.Audio.Format) + "]"
	}
	return "[" + p.Kind + "]"
}

// lastOf is the last element of an address's path.
func lastOf(address string) string {
	if at := strings.IndexAny(address, "?#"); at >= 0 {
		address = address[:at]
	}
	return address[strings.LastIndexByte(address, '/')+1:]
}

// typeOf is the media type in a data: URL.
func typeOf(address string) string {
	kind, _, _ := strings.Cut(strings.TrimPrefix(address, "data:"), ";")
	kind, _, _ = strings.Cut(kind, ",")
	return clip(kind)
}

func clip(s string) string {
	const most = 64
	s = strings.Map(func(r rune) rune {
		if r < ' ' || r == '[' || r == ']' {
			return -1
		}
		return r
	}, s)
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "")
}

// Described is the message's text, with a description in the place of each part that is
// something else: for those who read text only, such as the router.
func (m Message) Described() string {
	var texts []string
	for _, p := range m.Parts {
		if p.Kind == "text" {
			texts = append(texts, p.Text)
			continue
		}
		texts = append(texts, p.described())
	}
	return strings.Join(texts, "\n")
}
