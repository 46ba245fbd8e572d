package tinker

import (
	"compress/gzip"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/klauspost/compress/zstd"
)

// departure is how long a client may take to read an answer.
const departure = 60 * time.Second

// worthwhile is the length from which an answer is compressed, if that is asked for.
const worthwhile = 16 << 10

// answer writes an object.
func (a *api) answer(w http.ResponseWriter, r *http.Request, v any) error {
	return send(w, r, http.StatusOK, encode(v), jsonType)
}

// send writes a whole body. A client that stops reading, or has left, is no failure of ours.
func send(w http.ResponseWriter, r *http.Request, status int, body []byte, contentType string) error {
	control := http.NewResponseController(w)
	if err := control.SetWriteDeadline(time.Now().Add(departure)); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return nil
	}
	h := w.Header()
	h.Set("Content-Type", contentType)
	h.Set("Cache-Control", "no-store")
	encoding := ""
	if len(body) >= worthwhile {
		h.Set("Vary", "Accept-Encoding, Accept")
		encoding = encodingFor(r.Header.Get("Accept-Encoding"))
	}
	if encoding == "" {
		h.Set("Content-Length", strconv.Itoa(len(body)))
	} else {
		h.Set("Content-Encoding", encoding)
	}
	w.WriteHeader(status)
	out, end := compress(w, encoding)
	_, _ = out.Write(body)
	_ = end()
	return nil
}

// encodingFor chooses of what a client accepts. Weights are not looked at but for a refusal.
func encodingFor(accepted string) string {
	offered := map[string]bool{}
	for _, part := range strings.Split(strings.ToLower(accepted), ",") {
		name, weight, _ := strings.Cut(part, ";")
		offered[strings.TrimSpace(name)] = strings.ReplaceAll(weight, " ", "") != "q=0"
	}
	for _, name := range []string{"zstd", "gzip"} {
		if offered[name] {
			return name
		}
	}
	return ""
}

// compress gives a writer; end must be called when all is written.
func compress(w io.Writer, encoding string) (out io.Writer, end func() error) {
	switch encoding {
	case "zstd":
		z, err := zstd.NewWriter(w, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1))
		if err == nil { // these options are always taken
			return z, z.Close
		}
	case "gzip":
		z, err := gzip.NewWriterLevel(w, gzip.BestSpeed)
		if err == nil {
			return z, z.Close
		}
	}
	return w, func() error { return nil }
}

// wantsProto reports whether an answer must be protobuf: a client that takes JSON too gets
// that, since it has had the same fields from the first version on.
func wantsProto(r *http.Request) bool {
	proto, text := false, false
	for _, accepted := range r.Header.Values("Accept") {
		for _, part := range strings.Split(strings.ToLower(accepted), ",") {
			kind, _, _ := strings.Cut(part, ";")
			proto = proto || strings.TrimSpace(kind) == protobuf
			text = text || strings.TrimSpace(kind) == jsonType
		}
	}
	return proto && !text
}
