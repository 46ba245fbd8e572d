package kernel

import "sync/atomic"

// split lays out the slots for pages shared between workers.
func (j *attendJob) split() {
	tasks := len(j.blocks) * j.kvHeads
	most, columns := 1, 1
	for i := range j.blocks {
		most = max(most, j.blocks[i].end-j.blocks[i].from)
		columns = max(columns, j.blocks[i].n*j.group)
	}
	j.parts = min(most, (4*j.pool.Threads()+tasks-1)/tasks)
	for j.parts < most && j.parts*tasks%j.pool.Threads() != 0 {
		j.parts++ // so that the threads end together
	}
	j.width = most
	if n := tasks * most; len(j.slots) < n {
		j.slots = append(j.slots, make([]partial, n-len(j.slots))...)
	}
	for i := range tasks * most {
		j.slots[i].begin(columns, j.dim)
	}
	if len(j.missing) < tasks {
		j.missing = make([]atomic.Int32, tasks)
	}
	for i := range tasks {
		j.missing[i].Store(int32(j.parts))
	}
}

// runPart computes a share of the pages of one block and key head; whoever comes
// last merges them all, in ascending order.
func (j *attendJob) runPart(worker, task int) {
	unit, part := task/j.parts, task%j.parts
	b, head := &j.blocks[unit/j.kvHeads], unit%j.kvHeads
	s := &j.pool.workers[worker].buf.att
	s.begin(b.n*j.group, j.dim)
	j.gather(s, b, head)
	slots := j.slots[unit*j.width:][:b.end-b.from]
	for page := part * len(slots) / j.parts; page < (part+1)*len(slots)/j.parts; page++ {
		j.page(s, &slots[page], b, head, b.from+page)
	}
	if j.missing[unit].Add(-1) > 0 {
		return
	}
	s.reset()
	for page := range slots {
		first, last := b.rows(b.from + page)
		s.merge(&slots[page], first*j.group, last*j.group, j.dim)
	}
	j.scatter(s, b, head)
}
