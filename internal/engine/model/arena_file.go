package model

import (
	"io"

	"macaron/internal/engine/kernel"
)

// File is where the pages of an arena lie that are not in memory.
type File interface {
	io.ReaderAt
	io.WriterAt
}

// pagesFile keeps the pages of an arena in a file, layer after layer, and those of one
// layer in memory, with what is read ahead of the next one.
type pagesFile struct {
	f       File
	written [][]bool // by layer and page
	spare   []*kernel.Page
	made    int
	ahead   *ahead
}

// ahead is pages of a layer that are being read.
type ahead struct {
	layer int
	pages map[int32]*kernel.Page
	done  chan error
}

// NewArenaIn is NewArena for Int8 steps, with its pages in a file of at most
// pages*PageBytes. Before a step computes a layer, Bring takes what it sees into memory;
// Leave lets go of it.
func (m *Model) NewArenaIn(f File, pages int) *Arena {
	a := m.NewArena(pages, kernel.Int8)
	a.file = &pagesFile{f: f, written: make([][]bool, m.Layers)}
	for i := range a.file.written {
		a.file.written[i] = make([]bool, pages)
	}
	for i := range a.pages {
		a.pages[i] = make([]*kernel.Page, m.Layers)
	}
	return a
}

// Pages is how many pages there is room for.
func (a *Arena) Pages() int { return max(len(a.pages), len(a.exact)) }

// InFile tells whether pages have to be brought.
func (a *Arena) InFile() bool { return a.file != nil }

// Bytes is the memory that pages take now.
func (a *Arena) Bytes() (n int64) {
	layer := a.m.PageBytes(a.mode) / int64(a.m.Layers)
	if a.file != nil {
		return int64(a.file.made) * layer
	}
	for _, p := range a.pages {
		n += int64(len(p)) * layer
	}
	for _, p := range a.exact {
		n += int64(len(p)) * layer
	}
	return n
}

// Bring takes pages of a layer into memory, those that were written from the file.
func (a *Arena) Bring(layer int, pages []int32) error {
	f := a.file
	if f == nil {
		return nil
	}
	read, err := f.wait(layer)
	for _, p := range pages {
		if err != nil {
			break
		}
		page := read[p]
		if delete(read, p); page == nil {
			page = f.room(a)
			err = f.read(a, layer, p, page)
		}
		a.pages[p][layer] = page
	}
	for _, page := range read {
		f.spare = append(f.spare, page)
	}
	return err
}

// Ahead begins to read pages of a layer that Bring will be asked for next.
func (a *Arena) Ahead(layer int, pages []int32) {
	f := a.file
	if f == nil || f.ahead != nil || layer < 0 || layer >= a.m.Layers {
		return
	}
	h := &ahead{layer: layer, pages: map[int32]*kernel.Page{}, done: make(chan error, 1)}
	var list []int32
	for _, p := range pages {
		if f.written[layer][p] {
			h.pages[p], list = f.room(a), append(list, p)
		}
	}
	f.ahead = h
	go func() {
		for _, p := range list {
			if err := f.read(a, layer, p, h.pages[p]); err != nil {
				h.done <- err
				return
			}
		}
		h.done <- nil
	}()
}

// Leave writes those pages of a layer that are in changed to the file, and lets go of all.
func (a *Arena) Leave(layer int, pages, changed []int32) error {
	f := a.file
	if f == nil {
		return nil
	}
	for _, p := range changed {
		if _, err := f.f.WriteAt(a.pages[p][layer].Bytes(), f.at(a, layer, p)); err != nil {
			return err
		}
		f.written[layer][p] = true
	}
	for _, p := range pages {
		f.spare = append(f.spare, a.pages[p][layer])
		a.pages[p][layer] = nil
	}
	return nil
}

// Quit waits for what is being read: the file may be closed then.
func (a *Arena) Quit() {
	if a.file != nil && a.file.ahead != nil {
		<-a.file.ahead.done
		a.file.ahead = nil
	}
}

// wait gives what was read ahead of a layer.
func (f *pagesFile) wait(layer int) (map[int32]*kernel.Page, error) {
	h := f.ahead
	if h == nil {
		return nil, nil
	}
	f.ahead = nil
	err := <-h.done
	if h.layer != layer {
		for _, page := range h.pages {
			f.spare = append(f.spare, page)
		}
		return nil, err
	}
	return h.pages, err
}

func (f *pagesFile) at(a *Arena, layer int, p int32) int64 {
	return (int64(layer)*int64(len(a.pages)) + int64(p)) * a.m.PageBytes(a.mode) / int64(a.m.Layers)
}

// room is memory for one page of one layer.
func (f *pagesFile) room(a *Arena) *kernel.Page {
	if n := len(f.spare); n > 0 {
		page := f.spare[n-1]
		f.spare = f.spare[:n-1]
		return page
	}
	f.made++
	return kernel.NewPages(1, a.m.G, a.m.C)[0]
}

func (f *pagesFile) read(a *Arena, layer int, p int32, into *kernel.Page) error {
	if !f.written[layer][p] {
		return nil
	}
	_, err := f.f.ReadAt(into.Bytes(), f.at(a, layer, p))
	return err
}

// CopyInFile is Copy for pages that are in the file.
func (a *Arena) CopyInFile(from, to int32) error {
	f := a.file
	page := f.room(a)
	for layer := range a.m.Layers {
		if !f.written[layer][from] {
			continue
		}
		if err := f.read(a, layer, from, page); err != nil {
			return err
		}
		a.pages[to][layer] = page
		if err := a.Leave(layer, nil, []int32{to}); err != nil {
			return err
		}
		a.pages[to][layer] = nil
	}
	f.spare = append(f.spare, page)
	return nil
}

// Forget says that pages will be used for something else.
func (a *Arena) Forget(pages []int32) {
	if a.file != nil {
		for layer := range a.file.written {
			for _, p := range pages {
				a.file.written[layer][p] = false
			}
		}
	}
}
