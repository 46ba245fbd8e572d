package catalogue

import (
	"macaron/internal/adapter"
)

// Linked is the pointer whose training state belongs to a revision: the one that was asked for as
// NAME@ALIAS if it links one, else one of the adapter that the revision was published as, else any
// other that stands on the revision, since what a client saves under one name is often served
// under another. Nothing is linked where no pointer on the revision has a checkpoint.
func Linked(all []adapter.Pointer, asked string, p adapter.Published) (found adapter.Pointer, ok bool) {
	best := 0
	for _, at := range all {
		if at.Revision != p.Hash || at.Checkpoint == "" {
			continue
		}
		rank := 1
		switch {
		case at.Name+"@"+at.Alias == asked:
			rank = 3
		case at.Name == p.Name:
			rank = 2
		}
		if rank > best {
			best, found = rank, at
		}
	}
	return found, best > 0
}
