package hf

import (
	"macaron/internal/engine/kernel"
	"macaron/internal/engine/weights/safetensors"
)

// Formats are the kernels' formats by those of checkpoints: the types of weights that
// are computed.
var Formats = map[safetensors.DType]kernel.Format{safetensors.F32: kernel.F32, safetensors.F16: kernel.F16, safetensors.BF16: kernel.BF16}
