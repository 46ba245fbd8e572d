// Package clock is where time enters, so that tests and simulations can give
// their own.
package clock

import "time"

// Clock tells the time.
type Clock interface{ Now() time.Time }

// System is the machine's clock, in UTC.
type System struct{}

// Now returns the current time in UTC.
func (System) Now() time.Time { return time.Now().UTC() }

// Fixed is a clock that stands still until Set or Add is called; not for concurrent changes.
type Fixed struct{ T time.Time }

// Now returns the set time.
func (f *Fixed) Now() time.Time { return f.T }

// Add moves the clock on.
func (f *Fixed) Add(d time.Duration) { f.T = f.T.Add(d) }
