package train

import "macaron/internal/engine/kernel"

// Positions lie in pages of kernel.PageTokens. A stretch that begins within a page has a
// copy of it: what else continues its parent has another.

// owned is the number of pages that a stretch has beyond those of its parent that are
// full.
func (s *stretch) owned() int { return pagesFor(s.hi) - s.lo/kernel.PageTokens }

func pagesFor(n int) int { return (n + kernel.PageTokens - 1) / kernel.PageTokens }

// room is the number of pages that everything that continues a stretch takes at most at
// a time.
func (s *stretch) room(limit int) int {
	most := 0
	for _, k := range s.packs(limit) {
		own, below := 0, 0
		for _, c := range k.stretches {
			own += c.owned()
			below = max(below, c.room(limit))
		}
		most = max(most, own+below)
	}
	return most
}

// open gives the stretches of a pack their pages and a tape.
func (p *pass) open(k *pack) error {
	for _, s := range k.stretches {
		full := s.lo / kernel.PageTokens
		s.own = s.owned()
		s.pages = append(s.pages[:0], s.parent.pages[:full]...)
		for range s.own {
			s.pages = append(s.pages, p.free[len(p.free)-1])
			p.free = p.free[:len(p.free)-1]
		}
	}
	if p.slope != nil {
		tape, err := p.g.o.Tape(p.m.Layers+1, k.rows, p.m.D)
		if err != nil {
			return err
		}
		for _, s := range k.stretches {
			s.tape, s.taped = tape, s.first
		}
	}
	return p.do(func() {
		for _, s := range k.stretches {
			if full := s.lo / kernel.PageTokens; s.lo%kernel.PageTokens != 0 {
				p.arena.Copy(s.parent.pages[full], s.pages[full])
			}
		}
	})
}

// close gives the pages back and ends the tape.
func (p *pass) close(k *pack) error {
	tape := k.stretches[0].tape
	for _, s := range k.stretches {
		p.free = append(p.free, s.pages[len(s.pages)-s.own:]...)
		s.pages, s.tape, s.sums = nil, nil, keySums{}
	}
	if tape == nil {
		return nil
	}
	return tape.Close()
}
