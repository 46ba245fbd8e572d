// Package progress draws transfers as bars on a terminal, and nothing anywhere else.
package progress

import (
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
	return &Bars{pool: mpb.New(mpb.WithOutput(out), mpb.WithWidth(40)), bars: map[string]*mpb.Bar{}}
}

// Tell sets how far a transfer is: bytes done of total, 0 for an unknown total. done
// equal to total, or below 0, ends its bar.
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
		bar = b.pool.AddBar(total,
			mpb.PrependDecorators(decor.Name(what+" ")),
			mpb.AppendDecorators(decor.Counters(decor.SizeB1000(0), "% .1f / % .1f"), decor.Name(" "), decor.Percentage()))
		b.bars[what] = bar
	}
	switch {
	case done < 0:
		bar.Abort(true)
		delete(b.bars, what)
	case done == total:
		bar.SetTotal(total, false)
		bar.SetCurrent(done)
		bar.SetTotal(total, true)
		delete(b.bars, what)
	default:
		bar.SetTotal(total, false)
		bar.SetCurrent(done)
	}
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
