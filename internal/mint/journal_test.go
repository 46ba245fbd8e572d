package mint

import (
	"bytes"
	"encoding/gob"
	"reflect"
	"testing"

	"macaron/internal/errs"
	"macaron/internal/train"
)

// TestAFlippedBitIsSeen: an entry of which one bit is another, or whose end is missing, is
// refused whole; one of a build that wrote no sums is read.
func TestAFlippedBitIsSeen(t *testing.T) {
	want := body{Forward: &Forward{Model: "m", Seq: 3, Data: []train.Datum{{Tokens: []int32{1, 2}, Inputs: map[string]train.Tensor{"weights": {Floats: []float32{0.5, -1}}}}}, Loss: train.Loss{Name: "cross_entropy"}}}
	whole, err := pack(want)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := unpack[body](whole); err != nil || !reflect.DeepEqual(got, want) {
		t.Fatalf("%+v %v", got, err)
	}
	for at := range whole {
		for bit := range 8 {
			raw := bytes.Clone(whole)
			raw[at] ^= 1 << bit
			if got, err := unpack[body](raw); errs.CodeOf(err) != errs.FormatInvalid || !reflect.DeepEqual(got, body{}) {
				t.Fatalf("byte %d, bit %d: %+v %v", at, bit, got, err)
			}
		}
		if got, err := unpack[body](whole[:at]); errs.CodeOf(err) != errs.FormatInvalid || !reflect.DeepEqual(got, body{}) {
			t.Fatalf("%d bytes of %d: %+v %v", at, len(whole), got, err)
		}
	}
	var before bytes.Buffer
	if err := gob.NewEncoder(&before).Encode(want); err != nil {
		t.Fatal(err)
	}
	if got, err := unpack[body](before.Bytes()); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("without a sum: %+v %v", got, err)
	}
}
