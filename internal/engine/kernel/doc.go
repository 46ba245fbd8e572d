// Package kernel holds the arithmetic of the engine: packed weights, prepared
// activations, matrix products, attention over pages, and the small vector
// functions between them, together with the pool of workers that runs them.
//
// Every function has one floating-point order, written down in plain Go (files
// *_ref.go). The AVX2 kernels follow that order bit by bit, so results depend
// neither on the machine's instruction set, nor on the number of threads, nor on
// which rows share a batch, nor on how a prompt is cut into chunks:
//
//   - Quantised weights, Int8 activations: integer dot per 32-block (exact), then
//     acc = fma(float(isum), dw*da, acc) and, for Q4_1, acc = fma(m, s, acc);
//     blocks ascending, one accumulator per output.
//   - Float activations: acc[k%2] = fma(w, x, acc[k%2]), k ascending; out = acc[0] + acc[1].
//   - Vector sums: lane i%8 collects element i, lanes fold as in fold8.
//   - Attention: scores, softmax and value sum per page of 64 positions, each page
//     by itself; pages merge in ascending order.
//
// Shapes are checked where work enters the package; a mismatch is a defect of the
// caller and panics. Malformed data (Pack) gives a coded error.
package kernel
