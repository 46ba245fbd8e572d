package ui4a

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"macaron/internal/errs"
)

// Surface names the place where a card lives; state, Actions and edits belong to it.
// It has one of three forms: inline/TURN/N, the Nth card of a turn's answer, from 0;
// canvas/ID, a file of the workspace; tool/CALL, a card returned by a tool.
type Surface string

// The kinds of surfaces.
const (
	InlineSurface = "inline"
	CanvasSurface = "canvas"
	ToolSurface   = "tool"
)

// maxSurfacePart bounds a canvas id, a turn's id and a call's id, in bytes.
const maxSurfacePart = 128

// Inline is the surface of the nth card of a turn's answer.
func Inline(turn string, n int) Surface {
	return Surface(InlineSurface + "/" + turn + "/" + strconv.Itoa(n))
}

// Canvas is the surface of a canvas file.
func Canvas(id string) Surface { return Surface(CanvasSurface + "/" + id) }

// Tool is the surface of a card that a tool call returned.
func Tool(call string) Surface { return Surface(ToolSurface + "/" + call) }

// Kind is inline, canvas or tool.
func (s Surface) Kind() string {
	kind, _, _ := strings.Cut(string(s), "/")
	return kind
}

// ParseSurface reads the name of a surface that came from outside.
func ParseSurface(text string) (Surface, error) {
	kind, rest, _ := strings.Cut(text, "/")
	id, n, inline := rest, "", false
	if kind == InlineSurface {
		if id, n, inline = strings.Cut(rest, "/"); !inline || !isOrdinal(n) {
			return "", badSurface(text)
		}
	}
	if kind != InlineSurface && kind != CanvasSurface && kind != ToolSurface || checkID(id) != nil {
		return "", badSurface(text)
	}
	return Surface(text), nil
}

// isOrdinal takes the one spelling of a number from 0 to MaxFences-1.
func isOrdinal(s string) bool {
	n, err := strconv.Atoi(s)
	return err == nil && n >= 0 && n < MaxFences && strconv.Itoa(n) == s
}

func badSurface(text string) error {
	return errs.New(errs.InvalidRequest, fmt.Sprintf("%.80q names no surface", text), "use inline/TURN/N, canvas/ID or tool/CALL")
}

// CanvasSuffix ends the name of every canvas file.
const CanvasSuffix = ".ui4a.tsx"

// CanvasFile is the name of the file that holds a canvas. An id is 1 to 128 bytes of any
// script, without separators, dots, spaces at its ends, or characters that do not print.
func CanvasFile(id string) (string, error) {
	if err := checkID(id); err != nil {
		return "", err
	}
	return id + CanvasSuffix, nil
}

// CanvasID is the id of the canvas that a file of this name holds.
func CanvasID(name string) (string, error) {
	id, ok := strings.CutSuffix(name, CanvasSuffix)
	if !ok {
		return "", errs.New(errs.InvalidRequest, fmt.Sprintf("%.80q is no canvas file", name), "its name ends in "+CanvasSuffix)
	}
	return id, checkID(id)
}

func checkID(id string) error {
	bad := func(why string) error {
		return errs.New(errs.InvalidRequest, fmt.Sprintf("%.80q is no id: it %s", id, why), "use letters, digits, - and _ of any script")
	}
	switch {
	case id == "" || len(id) > maxSurfacePart:
		return bad(fmt.Sprintf("has %d bytes, not 1 to %d", len(id), maxSurfacePart))
	case !utf8.ValidString(id):
		return bad("is no UTF-8")
	case strings.ContainsAny(id, `./\:`):
		return bad(`has one of . / \ :`)
	case strings.TrimSpace(id) != id:
		return bad("begins or ends with a space")
	}
	for _, r := range id {
		if !unicode.IsPrint(r) {
			return bad(fmt.Sprintf("has the character %U", r))
		}
	}
	return nil
}
