// Package kernel holds the arithmetic of the engine: packed weights, prepared
// activations, matrix products, attention over pages, and the small vector
// functions between them, together with the pool of workers that runs them.
//
// Every function has one floating-point order, written down in plain Go (files
// *_ref.go). The vector kernels follow that order bit by bit, so results depend
// neither on the machine's instruction set, nor on the number of threads, nor on
// which rows share a batch, nor on how a prompt is cut into chunks:
//
//   - Quantised weights, Int8 activations: integer sum per group of 32 values (exact, the
//     6-bit sub-scales of Q6_K inside), then acc = fma(float(isum), dw*da, acc) and, for
//     all but Q8_0 and Q6_K, acc = fma(m, s, acc), with s = da*sum(x). A group's weights
//     are w = dw*q + m, q not negative: m = -8*d in Q4_0 and -16*d in Q5_0; dw = d*sc and
//     m = -e*mn in Q4_K and Q5_K. Groups ascending, one accumulator per output.
//   - Float activations: acc[k%2] = fma(w, x, acc[k%2]), k ascending; out = acc[0] + acc[1].
//   - Vector sums: lane i%8 collects element i, lanes fold as in fold8.
//   - Attention: scores, softmax and value sum per page of 64 positions, each page
//     by itself; pages merge in ascending order.
//   - Gradients of products: in stretches of 256, of rows of a frozen matrix or of rows of
//     activations, each a product with float activations that is added by one fma.
//     Gradients of attention: AttendBack says.
//
// Three tiers compute this: plain Go, AVX2 with FMA, AVX-512 with VNNI; ISA tells which is in
// use. Within a tier the shape decides which kernel works: products of one or two rows run
// through many tiles, wider ones hold a tile and run through panels of activations.
//
// In reading order:
//
//	format, pack, pack_quant, pack_k, unpack   what a tile of 16 rows looks like, per format
//	matrix, packed                             a weight matrix; its bytes, to be kept and read again
//	acts, quantise_ref                         prepared activations
//	quant_ref, gemm_ref                        the orders of all products
//	matmul, matmul_job, matmul_tile, matmul_low, ahead    products shared among workers; adapters
//	page, attend, attend_page, attend_split, attend_all   pages of keys and values; attention
//	vector, rope, softmax, exp_ref, gelu, layernorm, fma  between products
//	matmul_back, outer, attend_back, attend_back_page, back_ref    gradients of all these
//	unpack_rows                                tiles read row by row, for them
//	adamw                                      a step of training
//	pool, pool_worker, scratch, slab, align    workers and memory
//
// and of the assembly, where dispatch*.go choose and *_amd64.go declare:
//
//	quant_amd64.h, vnni_amd64.h    what a format defines, and the registers; then
//	quant_x*, quant_full, quant_half, quant_widen, vnni_x*    the bodies: shared loops; last
//	quant_qN_amd64.s, vnni_qN_amd64.s    each format: its definitions around the bodies
//	gemm_steps_amd64.h, gemm*, gemv*, tiles*, avx512_gemm*    float products
//	exp_amd64.h, exp*, avx512_exp*, gelu*, vector*, quantise*, back*, turn*    the rest
//
// Shapes are checked where work enters the package; a mismatch is a defect of the
// caller and panics. Malformed data (Pack) gives a coded error.
package kernel
