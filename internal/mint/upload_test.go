package mint_test

import (
	"bytes"
	"io"
	"math/rand/v2"
	"testing"

	"macaron/internal/errs"
	"macaron/internal/mint"
)

// TestUploadsTogether: what one upload has unpacked leaves so much less for the others, until it is over.
func TestUploadsTogether(t *testing.T) {
	r := open(t, openEngine(t), t.TempDir(), mint.Limits{UploadBytes: 1 << 20})
	noise := make([]byte, 700<<10)
	for i := range noise {
		noise[i] = byte(rand.IntN(256)) //nolint:gosec // no secret
	}
	body := packed(t, entry("adapter_model.safetensors", string(noise)))
	upload := func(from io.Reader) errs.Code {
		_, err := r.Upload(ctx, "o", from)
		return errs.CodeOf(err)
	}
	from, to := io.Pipe()
	over := make(chan errs.Code)
	go func() { over <- upload(from) }()
	if _, err := to.Write(body[:600<<10]); err != nil { // ends when it has been read
		t.Fatal(err)
	}
	if got := upload(bytes.NewReader(body)); got != errs.Overloaded {
		t.Errorf("beside another: %s", got)
	}
	_ = to.CloseWithError(io.ErrUnexpectedEOF)
	if got := <-over; got != errs.FormatInvalid {
		t.Errorf("the one that was cut off: %s", got)
	}
	if got := upload(bytes.NewReader(body)); got != errs.FormatInvalid {
		t.Errorf("alone: %s", got)
	}
}
