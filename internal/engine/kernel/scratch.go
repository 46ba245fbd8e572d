package kernel

// scratch is one worker's private memory; it grows to what the largest task needs
// and stays.
type scratch struct {
	out     [tileRows * floatColumns]float32 // a tile of results that does not fit dst
	row     [256]float32                     // one dequantised block
	weights []float32                        // one dequantised tile, Float32 mode
	wide    []byte                           // one unpacked tile, Int8 mode
	att     attendScratch
	span    []float32 // keys and scores of one head of a span
	back    backScratch
	outer   outerScratch
	attBack attendBackScratch
}
