package sse

import (
	"bytes"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func read(t *testing.T, r io.Reader) ([]string, error) {
	t.Helper()
	rd := NewReader(r, 1<<10)
	var out []string
	for {
		e, err := rd.Next()
		if err != nil {
			return out, err
		}
		out = append(out, e.Name+"|"+string(e.Data))
	}
}

func TestReaderTakesEveryLineEnd(t *testing.T) {
	want := "|a\n|b\nc|d\nx|y"
	for name, stream := range map[string]string{
		"lf":       "data: a\n\ndata:b\n\n: note\n\nevent: c\nid: 3\ndata: d\n\nevent: x\ndata: y\n\n",
		"crlf":     "data: a\r\n\r\ndata:b\r\n\r\n: note\r\n\r\nevent: c\r\ndata: d\r\n\r\nevent: x\r\ndata: y\r\n\r\n",
		"cr":       "data: a\r\rdata:b\r\r: note\r\revent: c\rdata: d\r\revent: x\rdata: y\r\r",
		"bom":      "\xef\xbb\xbfdata: a\n\ndata:b\n\nevent: c\ndata: d\n\nevent: x\ndata: y\n\n",
		"comments": ": k\n: k\ndata: a\n: k\n\ndata:b\n\nevent: c\ndata: d\n\nevent: x\ndata: y\n\n",
	} {
		t.Run(name, func(t *testing.T) {
			for _, r := range []io.Reader{strings.NewReader(stream), iotest.OneByteReader(strings.NewReader(stream))} {
				got, err := read(t, r)
				if !errors.Is(err, io.EOF) || strings.Join(got, "\n") != want {
					t.Errorf("got %q, %v", got, err)
				}
			}
		})
	}
}

func TestReaderKeepsSplitRunesAndManyDataLines(t *testing.T) {
	got, err := read(t, iotest.OneByteReader(strings.NewReader("data: 你好\ndata: wörld\n\n")))
	if !errors.Is(err, io.EOF) || len(got) != 1 || got[0] != "|你好\nwörld" {
		t.Errorf("got %q, %v", got, err)
	}
}

func TestReaderDropsWhatTheEndCutShort(t *testing.T) {
	for _, s := range []string{"data: a\n\ndata: half", "data: a\n\ndata: half\n"} {
		got, err := read(t, strings.NewReader(s))
		if !errors.Is(err, io.ErrUnexpectedEOF) || len(got) != 1 {
			t.Errorf("%q gives %q, %v", s, got, err)
		}
	}
}

func TestReaderIsBounded(t *testing.T) {
	endless := io.MultiReader(strings.NewReader("data: "), neverEnding('x'))
	if _, err := NewReader(endless, 1<<16).Next(); !errors.Is(err, ErrTooLong) {
		t.Errorf("one endless line gives %v", err)
	}
	lines := strings.Repeat("data: aaaaaaaaaaaaaaaa\n", 1000)
	if _, err := NewReader(strings.NewReader(lines), 1<<10).Next(); !errors.Is(err, ErrTooLong) {
		t.Errorf("endless lines give %v", err)
	}
}

type neverEnding byte

func (b neverEnding) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = byte(b)
	}
	return len(p), nil
}

func TestWriterEndsOnce(t *testing.T) {
	rec := httptest.NewRecorder()
	w := NewWriter(rec, Options{})
	defer w.Close()
	for _, err := range []error{w.Send("", []byte("one\ntwo")), w.Send("name", []byte("3")), w.End("", []byte("[DONE]"))} {
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.End("", []byte("[DONE]")); !errors.Is(err, ErrEnded) {
		t.Errorf("a second end gives %v", err)
	}
	if err := w.Send("", []byte("late")); !errors.Is(err, ErrEnded) {
		t.Errorf("a late event gives %v", err)
	}
	if got, want := rec.Body.String(), "data: one\ndata: two\n\nevent: name\ndata: 3\n\ndata: [DONE]\n\n"; got != want {
		t.Errorf("got %q", got)
	}
	if rec.Header().Get("Content-Type") != "text/event-stream" {
		t.Error("content type")
	}
}

func TestNothingIsSentBeforeTheStart(t *testing.T) {
	rec := httptest.NewRecorder()
	w := NewWriter(rec, Options{})
	w.Close()
	if w.Started() || rec.Flushed || rec.Body.Len() > 0 {
		t.Error("the writer sent something on its own")
	}
}

func TestHeartbeatFillsSilence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rec := httptest.NewRecorder()
		w := NewWriter(rec, Options{Heartbeat: time.Second})
		if err := w.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(3500 * time.Millisecond)
		w.Close()
		if n := bytes.Count(rec.Body.Bytes(), []byte(": keepalive\n\n")); n != 3 {
			t.Errorf("%d heartbeats in 3.5 s", n)
		}
	})
}

func TestSlowReaderMeetsTheDeadline(t *testing.T) {
	failed := make(chan error, 1)
	srv := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) {
		w := NewWriter(rw, Options{Deadline: 50 * time.Millisecond})
		defer w.Close()
		big := bytes.Repeat([]byte("x"), 1<<20)
		for range 100 {
			if err := w.Send("", big); err != nil {
				failed <- err
				return
			}
		}
		failed <- nil
	}))
	defer srv.Close()
	c, err := net.Dial("tcp", srv.Listener.Addr().String()) // who waits for a header may wait in vain on a busy machine
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := io.WriteString(c, "GET / HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	if err := <-failed; err == nil {
		t.Error("100 MiB went to a client that reads nothing")
	}
}

func FuzzReader(f *testing.F) {
	for _, s := range []string{"", "data: a\n\n", "data\n\n", "event: x\r\ndata: y\r\n\r\n", "\xef\xbb\xbfdata:z\r\r", ":\n\n", "data: a\ndata: b\n\n"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		r := NewReader(bytes.NewReader(b), 256)
		total := 0
		for {
			e, err := r.Next()
			if err != nil {
				return
			}
			if len(e.Data) > 256 {
				t.Fatalf("an event of %d bytes", len(e.Data))
			}
			if total += len(e.Data); total > len(b) {
				t.Fatal("more data came out than went in")
			}
		}
	})
}

// Whatever the writer frames, the reader reads back.
func FuzzRoundTrip(f *testing.F) {
	f.Add("", "x")
	f.Add("delta", "a\nb")
	f.Fuzz(func(t *testing.T, name, data string) {
		if strings.ContainsAny(name, "\r\n") || strings.Contains(data, "\r") || strings.HasSuffix(data, "\n") || len(name) > 100 || len(data) > 400 {
			return
		}
		e, err := NewReader(bytes.NewReader(frame(name, []byte(data))), 4096).Next()
		if err != nil || e.Name != name || string(e.Data) != data {
			t.Fatalf("%q %q came back as %q %q, %v", name, data, e.Name, e.Data, err)
		}
	})
}
