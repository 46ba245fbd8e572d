package lora

import (
	"encoding/binary"

	"macaron/internal/engine/weights/safetensors"
)

// finite refuses a tensor with a value that is infinite or no number: one such value
// makes every answer of the adapter empty, and nothing would say why.
func finite(t *safetensors.Tensor) error {
	at := -1
	switch t.DType {
	case safetensors.F16:
		at = special(t.Data, 2, 0x7c00)
	case safetensors.BF16:
		at = special(t.Data, 2, 0x7f80)
	case safetensors.F32:
		at = special(t.Data, 4, 0x7f800000)
	}
	if at < 0 {
		return nil
	}
	return bad("value %d of the tensor %s is infinite or no number", at, t.Name)
}

// special gives the index of the first value whose exponent bits are all set, else -1.
func special(data []byte, size int, exponent uint32) int {
	for i := plain(data, size, exponent); i+size <= len(data); i += size {
		bits := uint32(binary.LittleEndian.Uint16(data[i:]))
		if size == 4 {
			bits = binary.LittleEndian.Uint32(data[i:])
		}
		if bits&exponent == exponent {
			return i / size
		}
	}
	return -1
}

// plain is how many bytes at the start, eight at a time, hold no special value.
func plain(data []byte, size int, exponent uint32) int {
	mask, one := uint64(exponent)*0x0001000100010001, uint64(0x0001000100010001)
	if size == 4 {
		mask, one = uint64(exponent)<<32|uint64(exponent), 0x0000000100000001
	}
	i := 0
	for ; i+8 <= len(data); i += 8 {
		missing := ^binary.LittleEndian.Uint64(data[i:]) & mask // 0 in the lane of a special value
		if (missing-one)&^missing&(one<<(8*size-1)) != 0 {
			break
		}
	}
	return i
}
