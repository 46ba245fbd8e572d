package train

import (
	"fmt"
	"strings"

	"macaron/internal/engine/lora"
	"macaron/internal/errs"
)

// Way is what of sequences that begin alike is computed once, and how far gradients go.
type Way int

// The ways; docs/engine/longstraw.md compares them.
const (
	// Exact computes a shared beginning once; gradients go through all of it.
	Exact Way = iota
	// Plain computes every sequence whole. Its gradients are those of Exact.
	Plain
	// ResponseOnly computes prompts once and forward only: gradients end at their keys
	// and values. Responses are computed one at a time.
	ResponseOnly
	// Resident is ResponseOnly with keys and values of prompts that stay over optimizer
	// steps, and so are of older weights.
	Resident
)

// WayNames are the ways by name, in the order of their numbers.
var WayNames = []string{"exact", "plain", "response-only", "resident-prefix"}

func (w Way) String() string { return WayNames[w] }

// ParseWay reads a way's name; the empty one is Exact.
func ParseWay(name string) (Way, error) {
	for w, known := range WayNames {
		if name == known || name == "" {
			return Way(w), nil
		}
	}
	return 0, errs.New(errs.FormatInvalid, fmt.Sprintf("there is no gradient %q", errs.Clip(name)), "use one of "+strings.Join(WayNames, ", "))
}

// Backward is what gradients are asked of.
type Backward struct {
	Adapter *lora.Adapter
	Layout  *Layout
	Seqs    []Sequence
	Slope   Slope
	Grad    []float32 // laid out by Layout; added to
	Way     Way
	Kept    *Kept // of Resident: its prompts, those of this call afterwards
}

// Found is what a pass tells beside gradients.
type Found struct {
	Memory Memory
	Age    int     // of Resident: adapters since the oldest prompt was captured
	Drift  float64 // of Resident, where it was measured: largest change of a log probability, in nats
	Probed bool    // it was
}

// Memory is bytes that a pass takes beside the model: at its peak, exactly counted, but for
// the scratch memory of kernels.
type Memory struct {
	Peak  int64 // of all that follows
	Pages int64 // keys and values
	Tapes int64 // inputs of layers
	Sums  int64 // gradients of keys and values of what is shared
	Rooms int64 // of one block in one layer, logits, a sequence's log probabilities
	Disk  int64 // most that lay on disk
}
