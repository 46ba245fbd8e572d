package lora

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"macaron/internal/engine/weights/safetensors"
	"macaron/internal/errs"
)

// A value that is no number is refused in every type, wherever it stands; the largest
// values are not.
func TestSpecialValuesAreRefused(t *testing.T) {
	shape := []uint64{2, 32}
	special := map[safetensors.DType][][]byte{
		safetensors.F16:  {{0x00, 0x7c}, {0x00, 0xfc}, {0x01, 0x7e}},
		safetensors.BF16: {{0x80, 0x7f}, {0x80, 0xff}, {0xc1, 0x7f}},
		safetensors.F32:  {{0, 0, 0x80, 0x7f}, {0, 0, 0x80, 0xff}, {1, 0, 0xc0, 0x7f}},
	}
	largest := map[safetensors.DType][]byte{safetensors.F16: {0xff, 0x7b}, safetensors.BF16: {0x7f, 0x7f}, safetensors.F32: {0xff, 0xff, 0x7f, 0xff}}
	for dtype, values := range special {
		size := dtype.Size()
		for _, at := range []int{0, 1, 63} {
			tensor := safetensors.Tensor{Name: "t", DType: dtype, Shape: shape, Data: make([]byte, 64*size)}
			copy(tensor.Data[at*size:], largest[dtype])
			if err := finite(&tensor); err != nil {
				t.Errorf("%s: %v", dtype, err)
			}
			for _, v := range values {
				copy(tensor.Data[at*size:], v)
				if err := finite(&tensor); errs.CodeOf(err) != errs.FormatInvalid || !strings.Contains(err.Error(), fmt.Sprintf("value %d ", at)) {
					t.Errorf("%s %x at %d: %v", dtype, v, at, err)
				}
			}
		}
	}
}

func TestAnAdapterWithoutNumbersIsRefused(t *testing.T) {
	tensors := parts(K, Down)
	tensors[1] = safetensors.FromFloat32(tensors[1].Name, tensors[1].Shape, make([]float32, 16*rank))
	tensors[1].Data[2], tensors[1].Data[3] = 0xc0, 0x7f
	dir := write(t, nil, tensors, nil)
	if _, err := Inspect(dir); errs.CodeOf(err) != errs.FormatInvalid {
		t.Errorf("inspected: %v", err)
	}
	if _, err := Load(dir, base()); errs.CodeOf(err) != errs.FormatInvalid {
		t.Errorf("loaded: %v", err)
	}
}

// A directory in the place of a file is no adapter.
func TestConfigMustBeAFile(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "adapter_config.json"), 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := Inspect(dir); errs.CodeOf(err) != errs.NotFound {
		t.Error(err)
	}
}
