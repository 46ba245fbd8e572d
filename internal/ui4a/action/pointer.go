package action

import (
	"encoding/json"
	"strconv"
	"strings"
)

// parsePointer reads a JSON pointer (RFC 6901) that names a key of state or what lies
// below it. The empty pointer would name all of state and is refused.
func parsePointer(p string) ([]string, error) {
	if !strings.HasPrefix(p, "/") || len(p) > 4*MaxName {
		return nil, refuse("visibility.noai", "a pointer is /KEY or /KEY/... into the state")
	}
	steps := strings.Split(p[1:], "/")
	for i, s := range steps {
		steps[i] = strings.NewReplacer("~1", "/", "~0", "~").Replace(s)
	}
	if len(steps) > MaxDepth || steps[0] == "" {
		return nil, refuse("visibility.noai", "a pointer is /KEY or /KEY/... into the state")
	}
	return steps, nil
}

// take removes what a pointer's steps lead to from a decoded value, and gives it. The
// element of an array becomes null, so that the places of the others stay.
func take(v any, steps []string) (rest, taken any) {
	if len(steps) == 0 {
		return nil, v
	}
	switch v := v.(type) {
	case map[string]any:
		child, ok := v[steps[0]]
		if !ok {
			return v, nil
		}
		if len(steps) == 1 {
			delete(v, steps[0])
			return v, child
		}
		v[steps[0]], taken = take(child, steps[1:])
		return v, taken
	case []any:
		if i, err := strconv.Atoi(steps[0]); err == nil && i >= 0 && i < len(v) {
			v[i], taken = take(v[i], steps[1:])
			return v, taken
		}
	}
	return v, nil
}

// leaves calls f for each string and number in a decoded value, keys of objects too:
// a key is as good a hiding place as a value.
func leaves(v any, f func(string)) {
	switch v := v.(type) {
	case string:
		f(v)
	case json.Number:
		f(v.String())
	case []any:
		for _, e := range v {
			leaves(e, f)
		}
	case map[string]any:
		for _, k := range sortedKeys(v) {
			f(k)
			leaves(v[k], f)
		}
	}
}
