package world

import (
	"testing"
	"time"
)

// Two attempts that overlap share what the process spends meanwhile, and have the rest alone.
func TestTheMeterDivides(t *testing.T) {
	var now time.Duration
	m := &meter{readings: func() (time.Duration, time.Duration) { return 2 * now, now }}
	a := m.begin()
	now += 10 * time.Second
	b := m.begin()
	now += 10 * time.Second
	first := a()
	now += 10 * time.Second
	second := b()
	now += time.Hour // nothing is under way
	third := m.begin()()
	if first.wall != 15*time.Second || second.wall != 15*time.Second || first.cpu != 30*time.Second || third != (spent{}) {
		t.Errorf("%v %v %v", first, second, third)
	}
}
