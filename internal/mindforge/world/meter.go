package world

import (
	"sync"
	"syscall"
	"time"
)

// meter divides what the process spends, of processor and of clock, among the attempts that are
// under way: those of a batch add up to what it took, whatever else goes on at once.
type meter struct {
	mu       sync.Mutex
	under    int // attempts
	cpu, at  time.Duration
	share    spent // of one attempt that was always under way
	readings func() (cpu, now time.Duration)
}

// spent is processor time and time by the clock.
type spent struct{ cpu, wall time.Duration }

// process is the meter of this process.
var process = &meter{readings: func() (time.Duration, time.Duration) { return SpentCPU(), time.Since(began) }}

var began = time.Now()

// begin says that an attempt begins; end tells, once, what it took.
func (m *meter) begin() (end func() spent) {
	from := m.step(1)
	return func() spent {
		to := m.step(-1)
		return spent{to.cpu - from.cpu, to.wall - from.wall}
	}
}

// step adds what was spent since the last step to the share of those that were under way.
func (m *meter) step(more int) spent {
	m.mu.Lock()
	defer m.mu.Unlock()
	cpu, now := m.readings()
	if m.under > 0 {
		m.share.cpu += (cpu - m.cpu) / time.Duration(m.under)
		m.share.wall += (now - m.at) / time.Duration(m.under)
	}
	m.cpu, m.at, m.under = cpu, now, m.under+more
	return m.share
}

// SpentCPU is the processor time of this process so far.
func SpentCPU() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
