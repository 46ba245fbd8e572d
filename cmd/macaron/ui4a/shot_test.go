package ui4a

import (
	"bytes"
	"image/png"
	"testing"

	"macaron/internal/ui4a/serve"
)

// A card much higher than a screen is painted down to its end.
func TestThePictureOfATallCardIsWhole(t *testing.T) {
	const card = `export default () => <div className="bg-accent" style={{ height: 7600 }}>
  {Array.from({ length: 190 }, (_, i) => <p key={"p" + i} className="text-accent-fg" style={{ height: 40, margin: 0 }}>Line {i}</p>)}
</div>;`
	url, end, err := listenCard(serve.New(cardSurface, func() (string, error) { return card, nil }), 0)
	if err != nil {
		t.Fatal(err)
	}
	defer end()
	shot, err := takePicture(t.Context(), url+"/?shot&theme=light", cardShot{theme: "light", width: 390})
	if err != nil {
		t.Fatal(err)
	}
	picture, err := png.Decode(bytes.NewReader(shot))
	if err != nil {
		t.Fatal(err)
	}
	if h := picture.Bounds().Dy(); h < 7600 {
		t.Fatalf("the picture is %d pixels high", h)
	}
	for y := 100; y < 7600; y += 10 {
		if r, _, b, _ := picture.At(380-20, y).RGBA(); r >= b {
			t.Fatalf("row %d has no colour of the card: %v", y, picture.At(360, y))
		}
	}
}
