package eval

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

// Timed is a streamed answer as it was seen from outside.
type Timed struct {
	Wall, First, Tail time.Duration // the whole; until the first text; from the last text to the end
	Text              string
	Report            Report
}

// Stream sends a request and reads its answer to the end. Body's fields are added to model "macaron".
func (s *Server) Stream(ctx context.Context, messages []Message, body map[string]any) (t Timed, err error) {
	all := map[string]any{"model": "macaron", "messages": messages, "stream": true}
	for k, v := range body {
		all[k] = v
	}
	b, err := json.Marshal(all)
	if err != nil {
		return t, err
	}
	q, err := http.NewRequestWithContext(ctx, http.MethodPost, s.URL+"/v1/chat/completions", bytes.NewReader(b))
	if err != nil {
		return t, err
	}
	q.Header.Set("Content-Type", "application/json")
	begun := time.Now()
	r, err := http.DefaultClient.Do(q)
	if err != nil {
		return t, err
	}
	defer r.Body.Close() // read to its end
	if r.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(r.Body)
		return t, fmt.Errorf("%s: %s", r.Status, text)
	}
	return t, t.read(r.Body, begun)
}

func (t *Timed) read(body io.Reader, begun time.Time) error {
	last := begun
	for lines := bufio.NewScanner(body); lines.Scan(); {
		data, is := strings.CutPrefix(lines.Text(), "data: ")
		if !is {
			continue
		}
		if data == "[DONE]" {
			t.Wall, t.Tail = time.Since(begun), time.Since(last)
			return nil
		}
		var chunk struct {
			Choices []struct{ Delta struct{ Content string } }
			Macaron *Report
		}
		if err := json.Unmarshal([]byte(data), &chunk); err != nil {
			return err
		}
		if chunk.Macaron != nil {
			t.Report = *chunk.Macaron
		}
		if len(chunk.Choices) > 0 && chunk.Choices[0].Delta.Content != "" {
			if t.First == 0 {
				t.First = time.Since(begun)
			}
			t.Text, last = t.Text+chunk.Choices[0].Delta.Content, time.Now()
		}
	}
	return fmt.Errorf("the stream ended without its end")
}
