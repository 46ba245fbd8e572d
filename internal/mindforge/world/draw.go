package world

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
)

// Draw gives a number from low to high that depends on the salt and the key alone, the same
// on every machine.
func Draw(salt, key string, low, high int) int {
	if high <= low {
		return low
	}
	h := sha256.Sum256([]byte(salt + "\x00" + key))
	return low + int(binary.BigEndian.Uint64(h[:8])%uint64(high-low+1))
}

// Pick draws one of a list.
func Pick(salt, key string, from []string) string {
	return from[Draw(salt, key, 0, len(from)-1)]
}

// Shuffle gives a list in an order that is drawn.
func Shuffle(salt, key string, from []string) []string {
	out := append([]string(nil), from...)
	for i := len(out) - 1; i > 0; i-- {
		j := Draw(salt, key+string(rune('a'+i)), 0, i)
		out[i], out[j] = out[j], out[i]
	}
	return out
}

// Canary is in no other task: 48 bits of a hash of the task's name.
func Canary(id string) string {
	h := sha256.Sum256([]byte("canary\x00" + id))
	return hex.EncodeToString(h[:6])
}
