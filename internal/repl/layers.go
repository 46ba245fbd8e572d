package repl

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"macaron/internal/errs"
)

// Layer is one of the things that keep a sandbox apart from this machine.
type Layer struct {
	Name   string `json:"layer"`
	Holds  bool   `json:"holds"`
	Needed bool   `json:"needed"` // for this class of user; a Pool refuses to open without it
	Detail string `json:"detail"`
}

// Layers starts a sandbox and tells what holds. An error means that none can be started
// at all.
func Layers(ctx context.Context, o Options) ([]Layer, error) {
	b, err := open(ctx, o)
	if err != nil {
		return nil, err
	}
	defer b.close()
	return b.layers(ctx), nil
}

// refuse gives an error if a needed layer is missing and its absence is not accepted.
func refuse(list []Layer, accepted []string) error {
	var names, missing []string
	told := "" // when no sandbox starts, every layer tells the same
	for _, l := range list {
		names = append(names, l.Name)
		if l.Needed && !l.Holds && !slices.Contains(accepted, l.Name) {
			if missing = append(missing, l.Name); l.Detail != told {
				missing[len(missing)-1], told = fmt.Sprintf("%s (%s)", l.Name, l.Detail), l.Detail
			}
		}
	}
	for _, a := range accepted {
		if !slices.Contains(names, a) {
			return errs.Newf(errs.InvalidRequest, "sandbox.allow_missing names %q, which is no layer; the layers are %s", errs.Clip(a), strings.Join(names, ", "))
		}
	}
	if len(missing) > 0 {
		return errs.New(errs.Unsupported, "the sandbox lacks what must hold: "+strings.Join(missing, ", "), "mend it, or accept the danger by naming the layer in sandbox.allow_missing")
	}
	return nil
}
