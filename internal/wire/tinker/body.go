package tinker

import (
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"

	"github.com/klauspost/compress/zstd"

	"macaron/internal/errs"
	"macaron/internal/limits"
)

// The sizes of bodies, after decompression. A client splits forward_backward into parts of
// 5 MB of binary tensors; as JSON text these are several times longer.
const (
	trainBytes  = 64 << 20
	uploadBytes = 1 << 30
	zstdWindow  = 8 << 20
)

const protobuf = "application/x-protobuf"

// content is a body with what its headers say that it is.
type content struct {
	bytes []byte
	proto bool
}

// read takes a whole body of JSON, or of protobuf where that is understood.
func read(r *http.Request, most int64, proto bool) (content, error) {
	kind, _, _ := strings.Cut(r.Header.Get("Content-Type"), ";")
	c := content{proto: proto && strings.EqualFold(strings.TrimSpace(kind), protobuf)}
	if !c.proto {
		if err := limits.ContentType(r.Header.Get("Content-Type")); err != nil {
			return c, err
		}
	}
	plain, done, err := decompress(r)
	if err != nil {
		return c, err
	}
	defer done()
	if c.proto {
		c.bytes, err = limits.Bytes(plain, -1, most)
	} else {
		c.bytes, err = limits.TextBody(plain, -1, most)
	}
	return c, err
}

// decompress reads a body through its Content-Encoding. What comes out is bounded by the
// reader of the body; the memory that decoding takes is bounded here.
func decompress(r *http.Request) (plain io.Reader, done func(), err error) {
	switch encoding := strings.ToLower(r.Header.Get("Content-Encoding")); encoding {
	case "", "identity":
		return r.Body, func() {}, nil
	case "zstd":
		z, err := zstd.NewReader(r.Body, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(zstdWindow), zstd.WithDecoderLowmem(true))
		if err != nil {
			return nil, nil, malformedBody(err, encoding)
		}
		return &unpacked{z, encoding}, z.Close, nil
	case "gzip":
		z, err := gzip.NewReader(r.Body)
		if err != nil {
			return nil, nil, malformedBody(err, encoding)
		}
		return &unpacked{z, encoding}, func() { _ = z.Close() }, nil
	default:
		return nil, nil, errs.New(errs.InvalidRequest, fmt.Sprintf("the content encoding %q is not read", errs.Clip(encoding)), "use zstd or gzip, or send the body plain").In("content-encoding")
	}
}

// unpacked reads what a decoder gives. An error of the content is told as such: a client that
// heard that its body did not arrive whole would send the same bytes again.
type unpacked struct {
	from     io.Reader
	encoding string
}

// Read implements io.Reader.
func (u *unpacked) Read(p []byte) (int, error) {
	n, err := u.from.Read(p)
	var asked net.Error
	switch {
	case errors.Is(err, zstd.ErrWindowSizeExceeded), errors.Is(err, zstd.ErrDecoderSizeExceeded):
		err = errs.Wrap(errs.TooLarge, err, fmt.Sprintf("the request body needs a zstd window of more than %d bytes", zstdWindow), "compress it at a lower level, or send it plain")
	case err == nil, errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.As(err, &asked):
	default:
		err = malformedBody(err, u.encoding)
	}
	return n, err
}

func malformedBody(err error, encoding string) error {
	return errs.Wrap(errs.InvalidRequest, err, "the request body is not "+encoding, "send what Content-Encoding says")
}
