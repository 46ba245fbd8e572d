package record

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"

	"macaron/internal/errs"
)

// EncodeBody gives the JSON text of a body as the log stores it.
func EncodeBody(b Body) ([]byte, error) { return encode(b) }

// encode writes JSON without escapes that are for HTML only, and without a line's end.
func encode(b any) ([]byte, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(b); err != nil {
		return nil, errs.Wrap(errs.Internal, err, "a record cannot be written as JSON", "")
	}
	return bytes.TrimSuffix(buf.Bytes(), []byte("\n")), nil
}

// DecodeBody reads what EncodeBody wrote. A kind or field that this build does not
// know is an error: what it cannot read whole it does not show in part.
func DecodeBody(k Kind, text []byte) (Body, error) {
	decode, ok := decoders[k]
	if !ok {
		return nil, errs.New(errs.FormatInvalid, fmt.Sprintf("the log has a record of kind %.40q that this build does not know", k), "use the build that wrote it, or a newer one")
	}
	body, err := decode(text)
	if err != nil {
		return nil, errs.Wrap(errs.FormatInvalid, err, "the log has a malformed record of kind "+string(k), "restore the log from a backup")
	}
	return body, nil
}

var decoders = map[Kind]func([]byte) (Body, error){
	KindSessionOpened: decodeAs[SessionOpened],
	KindTurnOpened:    decodeAs[TurnOpened],
	KindHop:           decodeAs[Hop],
	KindToolResults:   decodeAs[ToolResults],
	KindTurnClosed:    decodeAs[TurnClosed],
	KindSummary:       decodeAs[Summary],
	KindSummaryUsed:   decodeAs[SummaryUsed],
	KindFeedback:      decodeAs[Feedback],
	KindDeleted:       decodeAs[Deleted],
	KindRunOpened:     decodeAs[RunOpened],
	KindToolCalled:    decodeAs[ToolCalled],
	KindToolReturned:  decodeAs[ToolReturned],
	KindCellRan:       decodeAs[CellRan],
	KindRunNote:       decodeAs[RunNote],
	KindRunClosed:     decodeAs[RunClosed],
	KindToolSaved:     decodeAs[ToolSaved],
	KindToolJudged:    decodeAs[ToolJudged],
	KindToolUsed:      decodeAs[ToolUsed],
	KindToolDemoted:   decodeAs[ToolDemoted],
	KindJoined:        decodeAs[Joined],
	KindCompacted:     decodeAs[Compacted],
	KindCardRendered:  decodeAs[CardRendered],
	KindCardAction:    decodeAs[CardAction],
	KindCardState:     decodeAs[CardState],
	KindCardOutcome:   decodeAs[CardOutcome],
}

func decodeAs[T Body](text []byte) (Body, error) {
	var body T
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&body); err != nil {
		return nil, err
	}
	return body, nil
}

// blobVersion is the first byte of an encoded Blob.
const blobVersion = 1

// The flags of a blob.
const (
	hasLogps  = 1
	hasPrompt = 2
)

// Encode gives the bytes of a blob: version, flags (1: logprobs follow, 2: and then the
// prompt), the count as uint32, then the ids as int32 and the logprobs as float32; the
// prompt is a count and ids likewise. All is little-endian.
func (b *Blob) Encode() ([]byte, error) {
	if len(b.Logps) != 0 && len(b.Logps) != len(b.Tokens) {
		return nil, errs.Newf(errs.Internal, "a blob has %d tokens and %d logprobs", len(b.Tokens), len(b.Logps))
	}
	flags := byte(0)
	if len(b.Logps) > 0 {
		flags |= hasLogps
	}
	if len(b.Prompt) > 0 {
		flags |= hasPrompt
	}
	out := appendIDs(append(make([]byte, 0, 10+8*len(b.Tokens)+4*len(b.Prompt)), blobVersion, flags), b.Tokens)
	for _, p := range b.Logps {
		out = binary.LittleEndian.AppendUint32(out, math.Float32bits(p))
	}
	if len(b.Prompt) > 0 {
		out = appendIDs(out, b.Prompt)
	}
	return out, nil
}

func appendIDs(out []byte, ids []int32) []byte {
	out = binary.LittleEndian.AppendUint32(out, uint32(len(ids)))
	for _, t := range ids {
		out = binary.LittleEndian.AppendUint32(out, uint32(t))
	}
	return out
}

// DecodeBlob reads what Encode wrote.
func DecodeBlob(raw []byte) (*Blob, error) {
	bad := errs.New(errs.FormatInvalid, "the log has a malformed token blob", "restore the log from a backup")
	if len(raw) < 6 || raw[0] != blobVersion || raw[1] > hasLogps|hasPrompt {
		return nil, bad
	}
	b := &Blob{}
	var rest []byte
	var ok bool
	if b.Tokens, rest, ok = takeIDs(raw[2:]); !ok {
		return nil, bad
	}
	if n := len(b.Tokens); raw[1]&hasLogps != 0 && n > 0 {
		if len(rest) < 4*n {
			return nil, bad
		}
		b.Logps = make([]float32, n)
		for i := range b.Logps {
			b.Logps[i] = math.Float32frombits(binary.LittleEndian.Uint32(rest[4*i:]))
		}
		rest = rest[4*n:]
	}
	if raw[1]&hasPrompt != 0 {
		if b.Prompt, rest, ok = takeIDs(rest); !ok || len(b.Prompt) == 0 {
			return nil, bad
		}
	}
	if len(rest) > 0 {
		return nil, bad
	}
	return b, nil
}

func takeIDs(raw []byte) (ids []int32, rest []byte, ok bool) {
	if len(raw) < 4 {
		return nil, nil, false
	}
	n := int64(binary.LittleEndian.Uint32(raw))
	if raw = raw[4:]; int64(len(raw)) < 4*n {
		return nil, nil, false
	}
	ids = make([]int32, n)
	for i := range ids {
		ids[i] = int32(binary.LittleEndian.Uint32(raw[4*i:]))
	}
	return ids, raw[4*n:], true
}
