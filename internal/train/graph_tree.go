package train

// stretch is a node of the tree of sequences: tokens that all sequences of its subtree
// have at positions [lo, hi), after those of its parents. The root is empty.
type stretch struct {
	parent   *stretch
	children []*stretch // in the order of the first sequence of each
	lo, hi   int
	tokens   []int32 // [hi-lo]
	ends     []int   // sequences whose last token is here
	asks     [][]ask // by row, nil where nothing is asked for

	pages []int32 // the path's, from position 0 up to hi; while it is on the path
	own   int     // how many of the last of them are its own
	first int     // its first row in the pack
	tape  Tape    // of the pack that it was computed in, where its first row is taped
	taped int
	sums  keySums // what its children add to the gradients of its keys and values
	live  bool    // some log probability of its subtree has a slope
	fixed bool    // a prompt that gradients do not enter
	kept  bool    // it is, and its keys and values are there
}

// ask is a log probability that is asked for at some position: of the target, for value
// at of a sequence's. Sequences that share the position may ask for different ones.
type ask struct {
	seq, at int
	target  int32
}

// plant makes the tree. Two sequences share their common beginning when it has at least
// least more tokens than what both share with an earlier one; 0 for no sharing.
// With fixed, prompts are stretches by themselves and each response is one.
func plant(seqs []Sequence, least int, fixed bool) *stretch {
	root := &stretch{fixed: fixed}
	for i, s := range seqs {
		var end *stretch
		if !fixed {
			end = root.grow(s.Tokens, least, false)
		} else if end = root.grow(s.Tokens[:s.Prompt], least, true); s.Prompt < len(s.Tokens) {
			end = end.leaf(s.Tokens, false)
		}
		end.ends = append(end.ends, i)
	}
	for _, child := range root.children {
		child.ask(seqs, nil)
	}
	return root
}

// grow adds a sequence below s and gives the stretch in which it ends.
func (s *stretch) grow(tokens []int32, least int, fixed bool) *stretch {
	for s.hi < len(tokens) {
		next, n := s.nearest(tokens[s.hi:], fixed)
		if least == 0 || n < least {
			return s.leaf(tokens, fixed)
		}
		if n < len(next.tokens) {
			next.split(n)
		}
		s = next
	}
	return s
}

// nearest is the child that has the most of the tokens in common, and how many.
func (s *stretch) nearest(tokens []int32, fixed bool) (best *stretch, most int) {
	for _, c := range s.children {
		if c.fixed != fixed {
			continue
		}
		n := 0
		for n < len(tokens) && n < len(c.tokens) && tokens[n] == c.tokens[n] {
			n++
		}
		if n > most {
			best, most = c, n
		}
	}
	return best, most
}

func (s *stretch) leaf(tokens []int32, fixed bool) *stretch {
	c := &stretch{parent: s, lo: s.hi, hi: len(tokens), tokens: tokens[s.hi:], fixed: fixed}
	s.children = append(s.children, c)
	return c
}

// split leaves the first n tokens to s and moves the others to a child.
func (s *stretch) split(n int) {
	rest := &stretch{parent: s, lo: s.lo + n, hi: s.hi, tokens: s.tokens[n:], children: s.children, ends: s.ends, fixed: s.fixed}
	for _, c := range rest.children {
		c.parent = rest
	}
	s.hi, s.tokens, s.children, s.ends = s.lo+n, s.tokens[:n], []*stretch{rest}, nil
}

// ask hands the targets of the sequences that pass through to the rows of the subtree,
// and gives those sequences, ascending within each end.
func (s *stretch) ask(seqs []Sequence, through []int) []int {
	from := len(through)
	through = append(through, s.ends...)
	for _, c := range s.children {
		through = c.ask(seqs, through)
	}
	for _, i := range through[from:] {
		k := seqs[i].K
		for at := s.lo * k; at < s.hi*k; at++ {
			if t := seqs[i].Targets[at]; t >= 0 {
				if s.asks == nil {
					s.asks = make([][]ask, s.hi-s.lo)
				}
				row := at/k - s.lo
				s.asks[row] = append(s.asks[row], ask{i, at, t})
			}
		}
	}
	return through
}
