package ui4a

import "testing"

// A canvas is known by the name of its file; any other file is shown on one surface.
func TestACardsFileNamesItsSurface(t *testing.T) {
	for file, want := range map[string]string{"a/trip.ui4a.tsx": "canvas/trip", "旅.ui4a.tsx": "canvas/旅", "card.tsx": "canvas/card", "a.b.ui4a.tsx": "canvas/card", "-": "canvas/card"} {
		if got := canvasOf(file); got != want {
			t.Errorf("%s is shown on %s, not %s", file, got, want)
		}
	}
}
