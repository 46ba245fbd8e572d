package chatapi

import (
	"bytes"
	"encoding/json"

	"macaron/internal/chat"
)

// Image is a part in the form in which engines take images. Every API writes it alike,
// so that a conversation is found again whichever it comes by.
func Image(url string) chat.Part {
	return chat.Part{Kind: "image", Raw: rawPart(map[string]any{"type": "image_url", "image_url": map[string]string{"url": url}})}
}

// File is a part in the form in which engines take files; data is a data: URL.
func File(name, data string) chat.Part {
	return chat.Part{Kind: "file", Raw: rawPart(map[string]any{"type": "file", "file": map[string]string{"filename": name, "file_data": data}})}
}

func rawPart(part map[string]any) json.RawMessage {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(part) // texts always encode
	return bytes.TrimSpace(b.Bytes())
}
