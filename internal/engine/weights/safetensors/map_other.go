//go:build !unix

package safetensors

import "os"

// mapFile reads the file where mapping is not available.
func mapFile(path string) (raw []byte, unmap func() error, err error) {
	raw, err = os.ReadFile(path)
	return raw, func() error { return nil }, err
}
