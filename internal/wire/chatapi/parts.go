package chatapi

import (
	"bytes"
	"encoding/json"
	"maps"

	"macaron/internal/chat"
)

// Image is a part in the form in which engines take images. Every API writes it alike,
// so that a conversation is found again whichever it comes by; what else stood in the
// client's part does not reach the engine. The detail may be empty.
func Image(url, detail string) chat.Part {
	return rawPart("image", "image_url", map[string]string{"url": url, "detail": detail})
}

// File is a part in the form in which engines take files; data is a data: URL. The name may
// be empty.
func File(name, data string) chat.Part {
	return rawPart("file", "file", map[string]string{"filename": name, "file_data": data})
}

// audio is a part in the form in which engines take sound; data is base64.
func audio(format, data string) chat.Part {
	return rawPart("audio", "input_audio", map[string]string{"data": data, "format": format})
}

// rawPart writes a part of a kind; texts that are empty are left out.
func rawPart(kind, member string, inner map[string]string) chat.Part {
	maps.DeleteFunc(inner, func(_, text string) bool { return text == "" })
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(map[string]any{"type": member, member: inner}) // texts always encode
	return chat.Part{Kind: kind, Raw: bytes.TrimSpace(b.Bytes())}
}
