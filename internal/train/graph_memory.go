package train

import (
	"fmt"

	"macaron/internal/disk"
	"macaron/internal/engine/kernel"
)

// prepare makes the arena and decides what of the memory is on disk: keys and values, the
// sums of their gradients and the inputs of layers stay, in this order, as far as
// Spill.Memory goes.
func (p *pass) prepare(root *stretch) error {
	o := &p.g.o
	if p.resident != nil {
		if err := p.resident.match(root, o.rowsBy()); err != nil {
			return err
		}
	}
	pages := root.room(o.rowsBy())
	sizes := []int64{
		int64(pages) * p.m.PageBytes(o.Mode),
		root.most(o.rowsBy(), p.sumBytes),
		root.most(o.rowsBy(), p.tapeBytes),
	}
	inFile := [3]bool{}
	if o.Spill.Dir != "" {
		left, need := o.Spill.Memory, int64(0)
		for i, n := range sizes {
			if inFile[i] = n > left; inFile[i] {
				need += n
			} else {
				left -= n
			}
		}
		if err := p.roomOnDisk(need); err != nil {
			return err
		}
	}
	p.sumsInFile, p.tapesInFile = inFile[1], inFile[2]
	return p.makeArena(pages, inFile[0] && o.Mode == kernel.Int8)
}

func (p *pass) roomOnDisk(need int64) error {
	if need == 0 {
		return nil
	}
	if free, err := disk.Free(p.g.o.Spill.Dir); err == nil && uint64(need) > free {
		return disk.Full(fmt.Sprintf("the pass needs %d bytes in %s and %d are free", need, p.g.o.Spill.Dir, free))
	}
	return nil
}

func (p *pass) makeArena(pages int, inFile bool) (err error) {
	if p.resident != nil && p.resident.lend(p) {
		return p.do(func() { p.step = p.m.NewStep(p.pool, p.arena) })
	}
	if p.resident != nil {
		pages = 2*pages + spareSlots
	}
	if inFile {
		if p.file, err = p.g.scratch(p.g.o.Spill.Dir); err != nil {
			return err
		}
		p.arena = p.m.NewArenaIn(p.file, pages)
		p.disk(int64(pages) * p.m.PageBytes(p.g.o.Mode))
	} else {
		p.arena = p.m.NewArena(pages, p.g.o.Mode)
	}
	for page := pages - 1; page >= 0; page-- {
		p.free = append(p.free, int32(page))
	}
	return p.do(func() { p.step = p.m.NewStep(p.pool, p.arena) })
}

// finish lets go of the arena, or gives it to the prompts that stay.
func (p *pass) finish(root *stretch, failed error) error {
	if p.arena != nil {
		p.arena.Quit()
	}
	if p.resident != nil {
		return p.resident.end(p, root, failed)
	}
	if p.file == nil {
		return nil
	}
	return p.file.Close()
}

// entries is how many entries the tape of a pack has: the inputs of all layers, or one that
// passes from layer to layer where a layer is computed block by block.
func (p *pass) entries(k *pack) int {
	switch {
	case p.keeps(k):
		return p.m.Layers + 1
	case len(k.blocks) > 1:
		return 1
	}
	return 0
}

func (p *pass) tapeBytes(k *pack) int64 {
	if k.stretches[0].kept {
		return 0
	}
	return 4 * int64(p.entries(k)) * int64(k.rows) * int64(p.m.D)
}

func (p *pass) sumBytes(k *pack) int64 {
	if !p.keeps(k) || len(k.stretches[0].children) == 0 {
		return 0
	}
	return 8 * int64(p.m.Layers) * int64(k.rows) * int64(p.m.G*p.m.C)
}

// openTape gives a pack a tape, if it needs one.
func (p *pass) openTape(k *pack) (err error) {
	entries := p.entries(k)
	if entries == 0 {
		return nil
	}
	var tape Tape
	switch {
	case p.g.o.Tape != nil:
		tape, err = p.g.o.Tape(entries, k.rows, p.m.D)
	case p.tapesInFile:
		var f scratch
		if f, err = p.g.scratch(p.g.o.Spill.Dir); err == nil {
			tape = newFileTape(f, k.rows, p.m.D)
		}
	default:
		tape, err = newMemoryTape(entries, k.rows, p.m.D)
	}
	if err != nil {
		return err
	}
	k.taped = p.tapeBytes(k)
	p.tapes(k.taped)
	for _, s := range k.stretches {
		s.tape, s.taped = tape, s.first
	}
	return nil
}

// tapes counts a tape that is opened or closed.
func (p *pass) tapes(n int64) {
	if p.tapesInFile {
		p.disk(n)
	} else {
		p.now.Tapes += n
	}
}

// disk counts what lies on disk.
func (p *pass) disk(n int64) {
	p.now.Disk += n
	p.found.Memory.Disk = max(p.found.Memory.Disk, p.now.Disk)
}

// weigh keeps the largest sum of what there is now.
func (p *pass) weigh() {
	n := &p.now
	if p.arena != nil {
		n.Pages = p.arena.Bytes()
	}
	n.Rooms = 4 * int64(len(p.insides.room)+cap(p.kept)+p.head.size()+p.back.size())
	if p.step != nil {
		n.Rooms += p.step.Bytes()
	}
	for _, x := range [][][]float32{p.logprobs, p.slopes} {
		for _, of := range x {
			n.Rooms += 4 * int64(cap(of))
		}
	}
	if n.Peak = n.Pages + n.Tapes + n.Sums + n.Rooms; n.Peak > p.found.Memory.Peak {
		disk := p.found.Memory.Disk
		p.found.Memory = *n
		p.found.Memory.Disk = disk
	}
}

func (h *headRoom) size() int { return cap(h.hidden) + cap(h.final) + cap(h.logits) }

func (b *backRoom) size() (n int) {
	for _, x := range [][]float32{b.dx, b.x, b.dy, b.h, b.act, b.gate, b.up, b.dq, b.dk, b.dv, b.keys, b.values, b.low, b.sum} {
		n += cap(x)
	}
	return n
}
