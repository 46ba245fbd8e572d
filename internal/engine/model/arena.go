package model

import "macaron/internal/engine/kernel"

// Arena is the memory behind page numbers: for each page its keys and values in every
// layer, allocated when the page is first used. It belongs to the goroutine that steps.
type Arena struct {
	m     *Model
	mode  kernel.Mode
	pages [][]*kernel.Page // by page number, then layer; Int8 steps
	exact [][]*exactPage   // the same; Float32 steps
	file  *pagesFile       // nil: all in memory
}

// NewArena makes room for a number of pages, for steps of one mode.
func (m *Model) NewArena(pages int, mode kernel.Mode) *Arena {
	a := &Arena{m: m, mode: mode}
	if mode == kernel.Float32 {
		a.exact = make([][]*exactPage, pages)
	} else {
		a.pages = make([][]*kernel.Page, pages)
	}
	return a
}

// PageBytes is the memory of one page: keys and values of all layers, in half
// precision, or single for Float32 steps.
func (m *Model) PageBytes(mode kernel.Mode) int64 {
	n := int64(m.Layers) * int64(kernel.PageLen(m.G, m.C)) * 2 * 2
	if mode == kernel.Float32 {
		n *= 2
	}
	return n
}

// Copy copies a page whole. Positions beyond the useful ones are written before they
// are read.
func (a *Arena) Copy(from, to int32) {
	a.touch(from)
	a.touch(to)
	for l := range a.m.Layers {
		if a.mode == kernel.Float32 {
			*a.exact[to][l] = exactPage{append([]float32(nil), a.exact[from][l].k...), append([]float32(nil), a.exact[from][l].v...)}
			continue
		}
		copy(a.pages[to][l].K, a.pages[from][l].K)
		copy(a.pages[to][l].V, a.pages[from][l].V)
	}
}

// touch allocates a page.
func (a *Arena) touch(p int32) {
	switch {
	case a.mode == kernel.Float32 && a.exact[p] == nil:
		for range a.m.Layers {
			a.exact[p] = append(a.exact[p], newExactPage(a.m.G*a.m.C))
		}
	case a.file != nil: // Bring has
	case a.mode == kernel.Int8 && a.pages[p] == nil:
		a.pages[p] = kernel.NewPages(a.m.Layers, a.m.G, a.m.C)
	}
}

// put writes the key and value of a position.
func (a *Arena) put(p int32, layer, slot int, k, v []float32) {
	if a.mode == kernel.Float32 {
		a.exact[p][layer].put(slot, k, v)
		return
	}
	a.pages[p][layer].Put(slot, k, v, a.m.G, a.m.C)
}
