package jobs

import (
	"testing"
	"time"
)

// The rest is told by the pace of steps that were timed: those that were found done tell nothing.
func TestLeftIsTheMeasuredPace(t *testing.T) {
	p := Progress{Done: 6, Total: 10, Timed: 2, Took: 4 * time.Second}
	if left, ok := p.Left(); !ok || left != 8*time.Second {
		t.Errorf("4 steps at 2 s each are %v, %v", left, ok)
	}
	if _, ok := (Progress{Done: 6, Total: 10}).Left(); ok {
		t.Error("a time is told of steps that nobody has timed")
	}
	if s := Sum([]Status{{Progress: p}, {Progress: Progress{Total: 5}}}); s.Total != 15 || s.Timed != 2 {
		t.Errorf("the sum is %+v", s)
	}
}
