package model

import (
	"runtime"
	"slices"
	"strings"
	"sync"

	"macaron/internal/engine/kernel"
	"macaron/internal/engine/lora"
	"macaron/internal/engine/weights/gguf"
	"macaron/internal/errs"
)

// WriteMerged makes a GGUF file of the base in a GGUF file with one adapter added into its
// weights, W + scale * B A, for programs that serve whole models. Matrices that the adapter
// changes are stored in half precision, whatever they were; everything else is copied as it
// is. A head that the base ties to its embedding becomes a tensor of its own when the
// adapter changes it.
func WriteMerged(path string, base *GGUF, m *Model, a *lora.Adapter) error {
	if len(a.Invocation) > 0 {
		return errs.New(errs.Unsupported, "an activated adapter acts on part of a prompt only, which no merged weights do", "export the adapter by itself")
	}
	changed := m.changes(a)
	var out []gguf.NewTensor
	for i := range base.File.Tensors {
		t := &base.File.Tensors[i]
		if merged, ok := changed[t.Name]; ok {
			out = append(out, merged)
			delete(changed, t.Name)
			continue
		}
		out = append(out, gguf.NewTensor{Name: t.Name, Dims: t.Dims, Type: t.Type, Data: t.Data})
	}
	for _, head := range changed { // of a base that ties it
		out = append(out, head)
	}
	meta := base.File.Meta
	name, err := meta.StringOr("general.name", m.Name)
	if err != nil {
		return err
	}
	meta.SetString("general.name", strings.TrimSpace(name+" merged with "+a.Revision.Hash.Short()))
	return gguf.Write(path, meta, out)
}

// changes are the matrices of an adapter's targets with the adapter added.
func (m *Model) changes(a *lora.Adapter) map[string]gguf.NewTensor {
	shape := m.Shape("")
	out := map[string]gguf.NewTensor{}
	add := func(name string, w *kernel.Matrix, p *lora.Pair, order []int) {
		out[name] = gguf.NewTensor{Name: name, Dims: []uint64{uint64(w.K()), uint64(w.Rows())}, Type: gguf.F16, Data: func() []byte { return merged(w, p, a.Scale, order) }}
	}
	for i := range m.layers {
		for t, w := range m.layers[i].matrices() {
			target := lora.Target(t)
			if p := a.At(i, target); p != nil {
				var order []int // of the engine's rows among the file's
				if !m.family.paired {
					order = shape.Order(target)
				}
				add(matrixName(i, target), w, p, order)
			}
		}
	}
	if p := a.At(0, lora.Head); p != nil {
		add("output.weight", m.head, p, nil)
	}
	return out
}

// merged is W + scale * B A in half precision, row order[r] of the result for row r of W;
// sums in double precision.
func merged(w *kernel.Matrix, p *lora.Pair, scale float32, order []int) []byte {
	k, r := w.K(), p.A.Rows()
	a := make([]float32, r*k)
	for i := range r {
		p.A.Row(i, a[i*k:])
	}
	out := make([]byte, 2*w.Rows()*k)
	var all sync.WaitGroup
	for part := range slices.Chunk(rowsOf(w), (w.Rows()+runtime.GOMAXPROCS(0)-1)/runtime.GOMAXPROCS(0)) {
		all.Go(func() {
			row, b, sum := make([]float32, k), make([]float32, r), make([]float64, k)
			for _, i := range part {
				w.Row(i, row)
				p.B.Row(i, b)
				mergeRow(row, a, b, float64(scale), sum)
				to := i
				if order != nil {
					to = order[i]
				}
				copy(out[2*to*k:], kernel.AppendHalves(nil, row))
			}
		})
	}
	all.Wait()
	return out
}

func rowsOf(w *kernel.Matrix) []int {
	rows := make([]int, w.Rows())
	for i := range rows {
		rows[i] = i
	}
	return rows
}

// mergeRow adds scale * b A to a row.
func mergeRow(row, a, b []float32, scale float64, sum []float64) {
	for j := range sum {
		sum[j] = float64(row[j])
	}
	for i, f := range b {
		if f == 0 {
			continue
		}
		g := scale * float64(f)
		for j, v := range a[i*len(row):][:len(row)] {
			sum[j] += g * float64(v)
		}
	}
	for j, f := range sum {
		row[j] = float32(f)
	}
}
