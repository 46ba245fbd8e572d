package backend

import (
	"context"
	"slices"
	"strings"
)

// ViaHeader names the servers that a request has passed, so that one whose engine is,
// at the end, itself refuses the request instead of asking itself for ever.
const ViaHeader = "X-Macaron-Via"

// InstanceHeader tells which server answers.
const InstanceHeader = "X-Macaron-Instance"

// maxVia is how many servers may stand one behind another.
const maxVia = 8

type viaKey struct{}

// WithVia keeps the value of ViaHeader for the requests made on behalf of ctx.
func WithVia(ctx context.Context, header string) context.Context {
	if header == "" {
		return ctx
	}
	return context.WithValue(ctx, viaKey{}, header)
}

// Via is the ViaHeader of a request made by instance on behalf of ctx.
func Via(ctx context.Context, instance string) string {
	before, _ := ctx.Value(viaKey{}).(string)
	if before == "" {
		return instance
	}
	return before + ", " + instance
}

// Loops reports whether a request with this ViaHeader has been at instance before, or
// has passed more servers than any set-up has.
func Loops(header, instance string) bool {
	if header == "" {
		return false
	}
	passed := strings.Split(header, ",")
	for i := range passed {
		passed[i] = strings.TrimSpace(passed[i])
	}
	return len(passed) >= maxVia || slices.Contains(passed, instance)
}
