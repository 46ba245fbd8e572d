// Package progress draws transfers as bars on a terminal, and tells of each in one line
// elsewhere.
package progress

import (
	"fmt"
	"io"
	"os"
	"sync"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"
)

// Bars draws one bar for each transfer that it is told of. Safe for concurrent use.
type Bars struct {
	mu   sync.Mutex
	pool *mpb.Progress
	bars map[string]*mpb.Bar
}

// New gives bars on a file that is a terminal, and nil, which is silent, otherwise.
func New(out *os.File) *Bars {
	info, err := out.Stat()
	if err != nil || info.Mode()&os.ModeCharDevice == 0 {
		return nil
	}
	return draw(out)
}

func draw(out io.Writer) *Bars {
	return &Bars{pool: mpb.New(mpb.WithOutput(out), mpb.WithWidth(40), mpb.WithAutoRefresh()), bars: map[string]*mpb.Bar{}}
}

// Lines tells a reader that is no terminal of each transfer once, at its start.
func Lines(out io.Writer) func(what string, done, total int64) {
	var mu sync.Mutex
	told := map[string]bool{}
	return func(what string, _, _ int64) {
		mu.Lock()
		defer mu.Unlock()
		if !told[what] {
			told[what] = true
			fmt.Fprintf(out, "fetching %s ...\n", what)
		}
	}
}

// Tell sets how far a transfer is: bytes done of total, 0 for an unknown total. done
// equal to a known total, or below 0, ends its bar.
func (b *Bars) Tell(what string, done, total int64) {
	if b == nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	bar := b.bars[what]
	if bar == nil {
		if done < 0 {
			return
		}
		bar = b.add(what, total)
		b.bars[what] = bar
	}
	switch {
	case done < 0:
		bar.Abort(true)
		delete(b.bars, what)
	case total > 0 && done == total:
		bar.SetCurrent(done)
		bar.SetTotal(total, true)
		delete(b.bars, what)
	default:
		bar.SetCurrent(done)
	}
}

// add draws a bar, or a spinner while nobody knows the total.
func (b *Bars) add(what string, total int64) *mpb.Bar {
	name := mpb.PrependDecorators(decor.Name(what + " "))
	if total <= 0 {
		return b.pool.New(0, mpb.SpinnerStyle().PositionLeft(), name, mpb.AppendDecorators(decor.Current(decor.SizeB1000(0), "% .1f")))
	}
	return b.pool.AddBar(total, name, mpb.AppendDecorators(decor.Counters(decor.SizeB1000(0), "% .1f of % .1f"), decor.Name(" "), decor.Percentage()))
}

// Close ends bars that are still open and leaves the terminal in order.
func (b *Bars) Close() {
	if b == nil {
		return
	}
	b.mu.Lock()
	for _, bar := range b.bars {
		bar.Abort(false)
	}
	b.mu.Unlock()
	b.pool.Wait()
}
