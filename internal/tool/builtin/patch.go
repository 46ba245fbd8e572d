package builtin

import (
	"context"
	"fmt"
	"strings"

	"macaron/internal/errs"
)

var patchSchema = schema(pathProperty+`,"edits":{"type":"array","minItems":1,"maxItems":100,"items":{"type":"object","properties":{"old":{"type":"string","minLength":1},"new":{"type":"string"}},"required":["old","new"],"additionalProperties":false}}`, `"path","edits"`)

type patchArgs struct {
	Path  string `json:"path"`
	Edits []edit `json:"edits"`
}

type edit struct {
	Old string `json:"old"`
	New string `json:"new"`
}

// patch makes all edits, one after the other, or none.
func (f workspace) patch(ctx context.Context, a patchArgs) (any, error) {
	text, err := f.text(a.Path)
	if err != nil {
		return nil, err
	}
	for i, e := range a.Edits {
		if n := strings.Count(text, e.Old); n != 1 || e.Old == "" {
			return nil, bad(fmt.Sprintf("edit %d: its old text occurs %d times in %s, not once", i+1, n, errs.Clip(a.Path)),
				"nothing was changed; read the file again and give more of the lines around the place")
		}
		if text = strings.Replace(text, e.Old, e.New, 1); len(text) > maxFile {
			return nil, errs.Newf(errs.TooLarge, "the file would have more than %d bytes; nothing was changed", maxFile)
		}
	}
	return f.write(ctx, writeArgs{a.Path, text})
}
