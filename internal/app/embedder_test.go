package app

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"math"
	"net/http"
	"slices"
	"strings"
	"testing"

	"macaron/internal/config"
	"macaron/internal/engine/encoder"
)

const tinyEncoder = "../engine/encoder/testdata/tiny"

// The vectors are those of the encoder, as numbers and as bytes, whatever form the input
// has; what it cannot do is refused by name.
func TestEngineEmbeddings(t *testing.T) {
	s := serveEngine(t, func(_ *config.Config, o *EngineOptions) { o.Embedding = NamedPath{"enc", tinyEncoder} })
	e, err := encoder.Open(tinyEncoder)
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close() // nothing runs any more
	want, used, err := e.Embed(t.Context(), []string{"hello world", "a"})
	if err != nil {
		t.Fatal(err)
	}
	ids, err := json.Marshal([][]int32{e.Tokens("hello world"), e.Tokens("a")})
	if err != nil {
		t.Fatal(err)
	}
	for _, body := range []string{
		`{"model":"enc","input":["hello world","a"]}`, `{"input":["hello world","a"],"encoding_format":"base64","user":"u"}`, `{"input":` + string(ids) + `,"encoding_format":"float"}`,
	} {
		status, text := s.text("POST", "/v1/embeddings", body, nil)
		var a struct {
			Model string
			Data  []struct {
				Index     int
				Embedding json.RawMessage
			}
			Usage struct {
				Prompt int `json:"prompt_tokens"`
			}
		}
		if err := json.Unmarshal([]byte(text), &a); err != nil || status != http.StatusOK || len(a.Data) != 2 || a.Usage.Prompt != used || a.Model != "enc" {
			t.Fatalf("%s: %v %d %s", body, err, status, text)
		}
		for i := range want {
			if got := vectorOf(t, a.Data[i].Embedding); !slices.Equal(got, want[i]) {
				t.Errorf("%s: vector %d is %v, not %v", body, i, got, want[i])
			}
		}
	}
	long := strings.Repeat("a ", e.MaxTokens())
	for body, param := range map[string]string{
		`{"model":"tiny","input":"a"}`: "model", `{"input":"a","dimensions":3}`: "dimensions", `{"input":[]}`: "input", `{"input":"` + long + `"}`: "input",
		`{"input":"a","use_activation":false}`: "use_activation", `{"messages":[]}`: "messages", `{"input":"a","encoding_format":"bytes"}`: "encoding_format",
	} {
		if status, text := s.text("POST", "/v1/embeddings", body, nil); status < 400 || status > 404 || !strings.Contains(text, `"param":"`+param) {
			t.Errorf("%.80s: %d %s", body, status, text)
		}
	}
	if status, text := s.text("POST", "/v1/embeddings", `{"truncate_prompt_tokens":-1,"input":"`+long+`"}`, nil); status != http.StatusOK {
		t.Errorf("cut: %d %s", status, text)
	}
	if _, text := s.text("GET", "/v1/models", "", nil); !strings.Contains(text, `"id":"enc"`) {
		t.Error(text)
	}
}

func vectorOf(t *testing.T, raw json.RawMessage) (out []float32) {
	t.Helper()
	var text string
	if json.Unmarshal(raw, &text) != nil {
		if err := json.Unmarshal(raw, &out); err != nil {
			t.Fatal(err)
		}
		return out
	}
	b, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		t.Fatal(err)
	}
	for ; len(b) > 0; b = b[4:] {
		out = append(out, math.Float32frombits(binary.LittleEndian.Uint32(b)))
	}
	return out
}
