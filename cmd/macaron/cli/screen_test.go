package cli

import (
	"bytes"
	"testing"
)

func TestAScreenIsNotSteered(t *testing.T) {
	var to bytes.Buffer
	s := &screen{to: &to}
	text := "é\x1b[31m\u009bx漢\x7f🙂\r\n\t\u0085."
	for i := range len(text) { // characters arrive in pieces
		if n, err := s.Write([]byte{text[i]}); n != 1 || err != nil {
			t.Fatal(n, err)
		}
	}
	if want := "é[31mx漢🙂\n\t."; to.String() != want {
		t.Errorf("%q, not %q", to.String(), want)
	}
	to.Reset()
	if _, err := s.Write([]byte("\xff\xc2")); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Write([]byte("\x9bend")); err != nil || to.String() != "\ufffdend" {
		t.Errorf("%q %v", to.String(), err)
	}
}
