package anthropic

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"

	"macaron/internal/chat"
	"macaron/internal/errs"
	"macaron/internal/limits"
	"macaron/internal/wire/chatapi"
)

// blocks reads content: a string, which is one text block, or a list of blocks.
func (r *request) blocks(field string, raw json.RawMessage, take func(at, kind string, b members) error) error {
	if limits.Absent(raw) {
		return errs.New(errs.InvalidRequest, field+" is missing", "send a string or a list of blocks").In(field)
	}
	if raw[0] == '"' {
		return take(field, "text", members{"text": raw})
	}
	items, err := limits.List(field, raw, limits.PartCount)
	if err != nil {
		return err
	}
	for i, item := range items {
		at := fmt.Sprintf("%s[%d]", field, i)
		b, err := limits.Object(at, item)
		if err != nil {
			return err
		}
		kind, err := limits.Text(at+".type", b["type"], limits.NameBytes)
		if err != nil {
			return err
		}
		if kind == "text" {
			r.unknown(at, b, "type", "text")
		}
		if err := take(at, kind, b); err != nil {
			return err
		}
	}
	return nil
}

// texts reads content that can be text only.
func (r *request) texts(field string, raw json.RawMessage) (parts []chat.Part, err error) {
	err = r.blocks(field, raw, func(at, kind string, b members) error {
		if kind != "text" {
			return unsupported(at, kind, "only text can stand here")
		}
		p, err := textOf(at, b)
		parts = append(parts, p)
		return err
	})
	return parts, err
}

// parts reads a block of a person's or a tool's.
func (r *request) parts(at, kind string, b members) ([]chat.Part, error) {
	var p chat.Part
	var err error
	switch kind {
	case "text":
		p, err = textOf(at, b)
	case "image":
		p, err = r.image(at, b)
	case "document":
		return r.document(at, b)
	case "search_result":
		return r.searchResult(at, b)
	default:
		err = unsupported(at, kind, "text, image, document, search_result and tool_result are taken")
	}
	return []chat.Part{p}, err
}

// textOf reads the text block b; of content that is a plain string, at is the field itself.
func textOf(at string, b members) (chat.Part, error) {
	if b["type"] != nil {
		at += ".text"
	}
	s, err := limits.Text(at, b["text"], limits.TextBytes)
	return chat.Part{Kind: "text", Text: s}, err
}

// image reads an image by its bytes or its address; which engines can look at it is
// not known here.
func (r *request) image(at string, b members) (chat.Part, error) {
	r.unknown(at, b, "type", "source")
	kind, source, err := sourceOf(at+".source", b["source"], "base64", "url")
	if err != nil {
		return chat.Part{}, err
	}
	at += ".source"
	if kind == "base64" {
		url, err := dataURL(at, source, "image/jpeg", "image/png", "image/gif", "image/webp")
		return chatapi.Image(url, ""), err
	}
	url, err := limits.Text(at+".url", source["url"], limits.TextBytes)
	if err == nil {
		err = limits.WebAddress(at+".url", url)
	}
	return chatapi.Image(url, ""), err
}

// document reads a document: one that is text becomes text, with its title and context
// before it; a PDF goes to engines that take files.
func (r *request) document(at string, b members) ([]chat.Part, error) {
	r.unknown(at, b, "type", "source", "title", "context")
	parts, err := captions(at, b, "title", "context")
	if err != nil {
		return nil, err
	}
	kind, source, err := sourceOf(at+".source", b["source"], "text", "base64", "content")
	if err != nil {
		return nil, err
	}
	at += ".source"
	switch kind {
	case "text":
		if _, err = chatapi.OneOf(at+".media_type", source["media_type"], "text/plain"); err != nil {
			return nil, err
		}
		data, err := limits.Text(at+".data", source["data"], limits.TextBytes)
		return append(parts, chat.Part{Kind: "text", Text: data}), err
	case "base64":
		url, err := dataURL(at, source, "application/pdf")
		return append(parts, chatapi.File("document.pdf", url)), err
	}
	err = r.blocks(at+".content", source["content"], func(at, kind string, b members) error {
		if kind != "text" && kind != "image" {
			return unsupported(at, kind, "a document has text and images")
		}
		inner, err := r.parts(at, kind, b)
		parts = append(parts, inner...)
		return err
	})
	return parts, err
}

// searchResult reads a result as text, its title and source before it.
func (r *request) searchResult(at string, b members) ([]chat.Part, error) {
	r.unknown(at, b, "type", "source", "title", "content")
	parts, err := captions(at, b, "title", "source")
	if err != nil {
		return nil, err
	}
	texts, err := r.texts(at+".content", b["content"])
	return append(parts, texts...), err
}

// captions reads the texts that stand before a document.
func captions(at string, b members, names ...string) (parts []chat.Part, err error) {
	for _, name := range names {
		if limits.Absent(b[name]) {
			continue
		}
		s, err := limits.Text(at+"."+name, b[name], limits.TextBytes)
		if err != nil {
			return nil, err
		}
		if s != "" {
			parts = append(parts, chat.Part{Kind: "text", Text: s})
		}
	}
	return parts, nil
}

// sourceOf reads where the content of a block comes from.
func sourceOf(field string, raw json.RawMessage, allowed ...string) (kind string, source members, err error) {
	if source, err = limits.Object(field, raw); err != nil {
		return "", nil, err
	}
	if kind, err = limits.Text(field+".type", source["type"], limits.NameBytes); err != nil {
		return "", nil, err
	}
	for _, a := range allowed {
		if kind == a {
			return kind, source, nil
		}
	}
	return "", nil, errs.New(errs.Unsupported, fmt.Sprintf("a source of the type %q cannot be read here", errs.Clip(kind)),
		"use one of "+strings.Join(allowed, ", ")).In(field + ".type")
}

// dataURL makes the one form in which engines take bytes.
func dataURL(field string, source members, types ...string) (string, error) {
	kind, err := chatapi.OneOf(field+".media_type", source["media_type"], types...)
	if err != nil {
		return "", err
	}
	data, err := limits.Text(field+".data", source["data"], limits.TextBytes)
	if err != nil {
		return "", err
	}
	if _, err := base64.StdEncoding.DecodeString(data); err != nil || data == "" {
		return "", errs.New(errs.InvalidRequest, field+".data is not base64", "").In(field + ".data")
	}
	return "data:" + kind + ";base64," + data, nil
}

func unsupported(at, kind, next string) error {
	return errs.New(errs.Unsupported, fmt.Sprintf("%s is a block of the type %q", at, errs.Clip(kind)), next).In(at + ".type")
}
