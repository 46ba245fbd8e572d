package axe

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"testing"
)

// digest is that of package/axe.min.js in the package's archive.
const digest = "29348999450cdf2849a8e70b7912fc2da85a849da39c0d0d5394f51d4a9ed95c"

func TestScriptIsTheOneOfThePackage(t *testing.T) {
	sum := sha256.Sum256([]byte(Script))
	if hex.EncodeToString(sum[:]) != digest || !strings.HasPrefix(Script, "/*! axe v4.14.1") {
		t.Errorf("the script is another: %x, %.20s", sum, Script)
	}
}
