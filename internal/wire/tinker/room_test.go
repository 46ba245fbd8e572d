package tinker

import (
	"fmt"
	"strings"
	"testing"

	"macaron/internal/errs"
)

// A few bytes that ask for gigabytes of zeros are refused, in both encodings, while as much as
// a body could hold densely is taken.
func TestSparseTensorsTogetherAreBounded(t *testing.T) {
	const half = tensorValues / 2
	datum := fmt.Sprintf(`{"model_input":{"chunks":[{"tokens":[1]}]},"loss_fn_inputs":{"weights":{"data":[1],"dtype":"float32","shape":[1,%d],"sparse_crow_indices":[0,1],"sparse_col_indices":[0]}}}`, half)
	request := func(n int) []byte {
		return []byte(`{"forward_backward_input":{"data":[` + strings.Repeat(datum+",", n-1) + datum + `],"loss_fn":"x"},"model_id":"m"}`)
	}
	for n, want := range map[int]errs.Code{2: "", 3: errs.TooLarge} {
		if _, err := jsonForward(request(n), "forward_backward_input"); err != nil != (want != "") || err != nil && errs.CodeOf(err) != want {
			t.Errorf("%d data in JSON: %v", n, err)
		}
	}
	sparse := appendBytes(appendBytes(appendBytes(nil, 1, float32Bytes([]float32{1})), 2, make([]byte, 16)), 3, make([]byte, 8))
	sparse[6+2+8] = 1 // the second of the row bounds 0, 1
	tensor := appendVarint(append(appendBytes(nil, 2, sparse), packed(4, []int64{1, half})...), 3, uint64(float32s))
	one := appendBytes(appendBytes(nil, 1, appendBytes(nil, 1, appendBytes(nil, 1, int32Bytes([]int32{1})))), 2, appendBytes(appendBytes(nil, 1, []byte("weights")), 2, tensor))
	body := appendBytes(appendBytes(nil, 1, []byte("m")), 4, []byte("x"))
	for n := 1; n <= 3; n++ {
		body = appendBytes(body, 3, one)
		if _, err := protoForward(body); err != nil != (n == 3) || err != nil && errs.CodeOf(err) != errs.TooLarge {
			t.Errorf("%d data in protobuf: %v", n, err)
		}
	}
}
