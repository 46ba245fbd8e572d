package train

import (
	"macaron/internal/disk"
	"macaron/internal/engine/kernel"
)

// Positions lie in pages of kernel.PageTokens. A stretch that begins within a page has a
// copy of it: what else continues its parent has another.

// owned is the number of pages that a stretch has beyond those of its parent that are
// full.
func (s *stretch) owned() int { return pagesFor(s.hi) - s.lo/kernel.PageTokens }

func pagesFor(n int) int { return (n + kernel.PageTokens - 1) / kernel.PageTokens }

// most is the largest sum along a path of what packs take.
func (s *stretch) most(by rowsBy, of func(*pack) int64) (sum int64) {
	for _, k := range s.packs(by) {
		below := int64(0)
		for _, c := range k.stretches {
			below = max(below, c.most(by, of))
		}
		sum = max(sum, of(k)+below)
	}
	return sum
}

// room is the number of pages that everything that continues a stretch takes at most at
// a time; pages of prompts that stay are there already.
func (s *stretch) room(by rowsBy) int {
	return int(s.most(by, func(k *pack) (n int64) {
		for _, c := range k.stretches {
			if !c.kept {
				n += int64(c.owned())
			}
		}
		return n
	}))
}

// open gives the stretches of a pack their pages and a tape.
func (p *pass) open(k *pack) error {
	if k.stretches[0].kept {
		return nil
	}
	for _, s := range k.stretches {
		full := s.lo / kernel.PageTokens
		s.own = s.owned()
		s.pages = append(s.pages[:0], s.parent.pages[:full]...)
		for range s.own {
			s.pages = append(s.pages, p.free[len(p.free)-1])
			p.free = p.free[:len(p.free)-1]
		}
	}
	if err := p.openTape(k); err != nil {
		return err
	}
	if p.arena.InFile() {
		return p.copyInFile(k)
	}
	return p.do(func() {
		for _, s := range k.stretches {
			if full := s.lo / kernel.PageTokens; s.lo%kernel.PageTokens != 0 {
				p.arena.Copy(s.parent.pages[full], s.pages[full])
			}
		}
	})
}

func (p *pass) copyInFile(k *pack) error {
	for _, s := range k.stretches {
		p.arena.Forget(s.pages[len(s.pages)-s.own:])
		if full := s.lo / kernel.PageTokens; s.lo%kernel.PageTokens != 0 {
			if err := p.arena.CopyInFile(s.parent.pages[full], s.pages[full]); err != nil {
				return spilled(err)
			}
		}
	}
	return nil
}

// spilled codes a failure of a file that memory was to be in.
func spilled(err error) error { return disk.Error(err, "the pass cannot keep its memory on disk") }

// close gives the pages back, unless the stretch stays, and ends the tape.
func (p *pass) close(k *pack) error {
	tape := k.stretches[0].tape
	var err error
	for _, s := range k.stretches {
		if s.tape = nil; s.kept {
			continue
		}
		p.free = append(p.free, s.pages[len(s.pages)-s.own:]...)
		s.pages = nil
		if cerr := s.sums.close(p); err == nil {
			err = cerr
		}
	}
	if tape != nil {
		p.tapes(-k.taped)
		if cerr := tape.Close(); err == nil {
			err = cerr
		}
	}
	return err
}

// bring takes the pages that a pack sees in a layer into memory, where they lie in a file;
// next is the layer that comes after it. leave lets go of them; with written its own pages
// have changed.
func (p *pass) bring(k *pack, layer, next int) error {
	if !p.arena.InFile() {
		return nil
	}
	p.seen = p.seen[:0]
	for i, s := range k.stretches {
		pages := s.pages
		if i > 0 {
			pages = pages[len(pages)-s.own:] // the others are the first one's too
		}
		p.seen = append(p.seen, pages...)
	}
	if err := p.arena.Bring(layer, p.seen); err != nil {
		return spilled(err)
	}
	p.arena.Ahead(next, p.seen)
	return nil
}

func (p *pass) leave(k *pack, layer int, written bool) error {
	if !p.arena.InFile() {
		return nil
	}
	var changed []int32
	for _, s := range k.stretches {
		if written {
			changed = append(changed, s.pages[len(s.pages)-s.own:]...)
		}
	}
	return spilled(p.arena.Leave(layer, p.seen, changed))
}
