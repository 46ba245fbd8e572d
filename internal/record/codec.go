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
func EncodeBody(b Body) ([]byte, error) {
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

// Encode gives the bytes of a blob: version, flags (bit 0: logprobs follow), the
// count as uint32, then the ids as int32 and the logprobs as float32, all little-endian.
func (b *Blob) Encode() ([]byte, error) {
	if len(b.Logps) != 0 && len(b.Logps) != len(b.Tokens) {
		return nil, errs.Newf(errs.Internal, "a blob has %d tokens and %d logprobs", len(b.Tokens), len(b.Logps))
	}
	out := make([]byte, 0, 6+8*len(b.Tokens))
	out = append(out, blobVersion, byte(min(len(b.Logps), 1)))
	out = binary.LittleEndian.AppendUint32(out, uint32(len(b.Tokens)))
	for _, t := range b.Tokens {
		out = binary.LittleEndian.AppendUint32(out, uint32(t))
	}
	for _, p := range b.Logps {
		out = binary.LittleEndian.AppendUint32(out, math.Float32bits(p))
	}
	return out, nil
}

// DecodeBlob reads what Encode wrote.
func DecodeBlob(raw []byte) (*Blob, error) {
	bad := errs.New(errs.FormatInvalid, "the log has a malformed token blob", "restore the log from a backup")
	if len(raw) < 6 || raw[0] != blobVersion || raw[1] > 1 {
		return nil, bad
	}
	n, rest := int64(binary.LittleEndian.Uint32(raw[2:])), raw[6:]
	if int64(len(rest)) != 4*n*int64(1+raw[1]) {
		return nil, bad
	}
	b := &Blob{Tokens: make([]int32, n)}
	for i := range b.Tokens {
		b.Tokens[i] = int32(binary.LittleEndian.Uint32(rest[4*i:]))
	}
	if raw[1] == 1 && n > 0 {
		b.Logps = make([]float32, n)
		for i := range b.Logps {
			b.Logps[i] = math.Float32frombits(binary.LittleEndian.Uint32(rest[4*(int(n)+i):]))
		}
	}
	return b, nil
}
