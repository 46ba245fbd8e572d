// Package runtime is the browser side of cards: one script with all that a card may
// import, and one stylesheet. Both are built from src by make ui4a-runtime, byte for
// byte the same each time, and committed; neither Node nor a network is needed to use
// them.
package runtime

import (
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
)

var (
	//go:embed dist/runtime.js
	script string
	//go:embed dist/runtime.css
	style string
	//go:embed dist/LICENSES.txt
	licences string
)

// Script gives the runtime: one classic script. It holds neither "</script" nor "<!--"
// and can stand inside a script element as it is.
func Script() string { return script }

// Style gives the stylesheet of cards: tokens, components, utility classes. It can
// stand inside a style element as it is.
func Style() string { return style }

// Licences gives the licence texts of everything that Script and Style are made of.
func Licences() string { return licences }

// ScriptHash gives the source expression by which a content security policy admits
// Script, without quotes: "sha256-" and the digest in base64.
func ScriptHash() string { return source(script) }

// StyleHash is ScriptHash for Style.
func StyleHash() string { return source(style) }

func source(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}
