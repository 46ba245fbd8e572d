package action

import _ "embed"

// Schema is the JSON Schema of an Action, draft 2020-12. What it admits, Read admits,
// but for sizes that no schema states: bytes in all, depth, bytes rather than characters.
//
//go:embed action.schema.json
var Schema []byte
