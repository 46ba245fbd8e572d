// Package axe is axe-core, which finds what keeps people from using a page: one script
// that defines the object axe. It is version 4.14.1 of the npm package axe-core, the file
// axe.min.js as it is there, under the Mozilla Public License 2.0 (LICENSE); the source is
// https://github.com/dequelabs/axe-core/tree/v4.14.1.
package axe

import _ "embed"

// Script is the whole of it. It runs in a document or in a world of its own.
//
//go:embed axe.min.js
var Script string
