package backend

import (
	"crypto/rand"
	"encoding/hex"
)

// NewCallID names a tool call for which the engine gave no id.
func NewCallID() string {
	var b [12]byte
	rand.Read(b[:]) // never fails
	return "call_" + hex.EncodeToString(b[:])
}
