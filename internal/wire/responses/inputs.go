package responses

import (
	"encoding/json"
	"strconv"
	"strings"

	"macaron/internal/chat"
)

// inputs gives messages of the log as items. Their ids begin with in_ where an output's
// have the prefix of their type, so that the two never meet.
func inputs(response string, messages []chat.Message) []item {
	items := []item{}
	add := func(i item) {
		i.Status = completed
		i.ID = prefixes[i.Type] + "_in" + strings.TrimPrefix(response, "resp") + "_" + strconv.Itoa(len(items))
		items = append(items, i)
	}
	for _, m := range messages {
		switch m.Role {
		case chat.Tool:
			add(item{Type: "function_call_output", CallID: m.ToolCallID, Output: json.RawMessage(chat.Quote(m.Text()))})
		case chat.Assistant:
			for _, i := range output(response, m, completed) {
				add(i)
			}
		default:
			add(item{Type: "message", Role: string(m.Role), Content: inputContent(m.Parts)})
		}
	}
	return items
}

// inputContent gives parts as a client sends them.
func inputContent(parts []chat.Part) *[]piece {
	out := []piece{}
	for _, p := range parts {
		var raw struct {
			Image struct{ URL, Detail json.RawMessage } `json:"image_url"`
			File  struct {
				Data json.RawMessage `json:"file_data"`
				Name json.RawMessage `json:"filename"`
			} `json:"file"`
		}
		switch p.Kind {
		case "text":
			out = append(out, piece{Type: "input_text", Text: &p.Text})
		case "image":
			if json.Unmarshal(p.Raw, &raw) == nil {
				out = append(out, piece{Type: "input_image", ImageURL: raw.Image.URL, Detail: raw.Image.Detail})
			}
		case "file":
			if json.Unmarshal(p.Raw, &raw) == nil {
				out = append(out, piece{Type: "input_file", FileData: raw.File.Data, Filename: raw.File.Name})
			}
		}
	}
	return &out
}
