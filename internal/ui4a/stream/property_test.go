package stream

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"macaron/internal/ui4a"
	"macaron/internal/ui4a/compile"
)

// However a card is cut, each frame is that of the text that has come, and the end is the
// whole card compiled at once.
func TestResultDoesNotDependOnCuts(t *testing.T) {
	cards := corpus(t, 60)
	whole := map[string]string{}
	rapid.Check(t, func(t *rapid.T) {
		source := rapid.SampledFrom(cards).Draw(t, "card")
		if whole[source] == "" {
			r, _ := compile.Compile(source, compile.Options{})
			whole[source] = r.JS
		}
		var s Stream
		for at := 0; at < len(source); {
			n := min(rapid.IntRange(1, 900).Draw(t, "cut"), len(source)-at)
			s.Write(source[at : at+n])
			at += n
			frame, fresh := s.Frame()
			if !fresh {
				continue
			}
			var alone Stream
			alone.Write(source[:at])
			if other, ok := alone.Frame(); !ok || other.JS != frame.JS {
				t.Fatalf("another frame after %d bytes", at)
			}
		}
		if r, found := s.End(); r.JS != whole[source] || ui4a.Failed(found) && r.JS == "" {
			t.Fatal("another script at the end", found)
		}
	})
}

// State is kept while elements are added behind hooks that stay as they are.
func TestStateIsKept(t *testing.T) {
	source := card(3)
	var s Stream
	var frames []Frame
	for i := range len(source) {
		s.Write(source[i : i+1])
		if f, fresh := s.Frame(); fresh {
			frames = append(frames, f)
		}
	}
	kept := 0
	for i := 1; i < len(frames); i++ {
		if frames[i].KeepsState(frames[i-1]) {
			kept++
		}
	}
	if len(frames) < 20 || kept < len(frames)-3 {
		t.Errorf("%d of %d frames keep state", kept, len(frames))
	}
	r, _ := s.End()
	if diff := cmp.Diff(frames[len(frames)-1].Hooks["default"], r.Hooks["default"]); diff != "" {
		t.Error(diff)
	}
}

func FuzzClose(f *testing.F) {
	for seed := range uint64(4) {
		f.Add(card(seed), 500)
	}
	f.Fuzz(func(t *testing.T, source string, cut int) {
		if cut < 0 || cut > len(source) {
			return
		}
		closed, ok := Close(source[:cut])
		if again, same := Close(source[:cut]); again != closed || same != ok {
			t.Fatal("the same text is closed in two ways")
		}
		if ok {
			compile.Compile(closed, compile.Options{Partial: true})
		}
	})
}
