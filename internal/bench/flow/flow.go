package flow

import (
	"fmt"
	"strconv"

	"macaron/internal/tool"
)

// Task is a question about a world, with its label.
type Task struct {
	ID          string `json:"id"` // FAMILY/SALT/WINDOW
	Family      string `json:"family"`
	Window      int    `json:"window"`
	Split       Split  `json:"split"`
	Depth       int    `json:"depth"` // longest chain of dependent calls
	Calls       int    `json:"calls"` // that the reference solution makes
	Instruction string `json:"instruction"`
	Label       string `json:"-"`

	w *world
}

// Split says what a result on a task tells. Tasks are never split at random: those of one
// family are solved by one program, and those of one window share their tables.
type Split string

// The splits.
const (
	Seen      Split = "seen"       // a family and a window to work with
	NewWindow Split = "new_window" // a family to work with, in a window that is held out
	NewFamily Split = "new_family" // the other way round
	HeldOut   Split = "held_out"   // neither was there to work with
)

func split(f family, window int) Split {
	switch held := window%2 == 1; {
	case f.held && held:
		return HeldOut
	case f.held:
		return NewFamily
	case held:
		return NewWindow
	}
	return Seen
}

// Tasks makes the tasks of a salt: one of each family for each of so many windows. A
// family keeps the first window draw whose reference solution makes as many calls as the
// family's bounds say.
func Tasks(salt string, windows int) []Task {
	w := newWorld(salt)
	d := drawer(salt)
	var out []Task
	for n := range windows {
		for f, fam := range families {
			for try := 0; ; try++ {
				if try == tries {
					panic(fmt.Sprintf("flow: the salt %q has no window %d for %s", salt, n, fam.name))
				}
				win := drawWindow(d, (n*len(families)+f)*tries+try)
				c := &counted{w: w}
				label := fam.solve(c, win)
				if c.calls < fam.min || c.calls > fam.max || label == 0 && try < tries/2 {
					continue
				}
				out = append(out, Task{ID: fmt.Sprintf("%s/%s/%d", fam.name, salt, n), Family: fam.name, Window: n, Split: split(fam, n), Depth: fam.depth, Calls: c.calls,
					Instruction: fam.ask(win) + " Answer with the whole number alone.", Label: strconv.Itoa(label), w: w})
				break
			}
		}
	}
	return out
}

// tries bounds the search for a window.
const tries = 1000

func drawWindow(d draw, n int) window {
	first := d("window", n, "first", 1, lastDay-20)
	return window{
		region: regions[d("window", n, "region", 0, len(regions)-1)], genre: genres[d("window", n, "genre", 0, len(genres)-1)],
		branch: id('b', d("window", n, "branch", 0, nBranches-1)), title: id('t', d("window", n, "title", 0, nTitles-1)),
		first: first, last: min(lastDay, first+d("window", n, "days", 4, 120)),
	}
}

// Tools gives the tools in the task's world.
func (t Task) Tools() []tool.Tool {
	var out []tool.Tool
	for _, f := range functions {
		out = append(out, hosted{f, t.w})
	}
	return out
}
