package engineserver

import (
	_ "embed" // the text below is a file
	"strings"
)

//go:embed tools.txt
var toolText string

// ToolText tells a model of its tools where its template has no place for them; {{tools}}
// stands for their list.
func ToolText() string { return strings.TrimSuffix(toolText, "\n") }
