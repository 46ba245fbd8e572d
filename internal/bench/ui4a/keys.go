package ui4a

import (
	"reflect"
	"slices"
)

// knownKeys gives the keys of the table that a path leads into, from the tags of Case.
func knownKeys(key []string) []string {
	t := reflect.TypeFor[Case]()
	for _, part := range key[:max(0, len(key)-1)] {
		f, ok := field(t, part)
		if !ok {
			break
		}
		for t = f.Type; t.Kind() == reflect.Slice || t.Kind() == reflect.Pointer; {
			t = t.Elem()
		}
		if t.Kind() != reflect.Struct {
			return []string{"any"}
		}
	}
	return slices.Sorted(slices.Values(tags(t)))
}

func field(t reflect.Type, key string) (reflect.StructField, bool) {
	return t.FieldByNameFunc(func(name string) bool {
		f, _ := t.FieldByName(name)
		return f.Tag.Get("toml") == key
	})
}

func tags(t reflect.Type) []string {
	var out []string
	for i := range t.NumField() {
		switch f := t.Field(i); {
		case f.Anonymous:
			out = append(out, tags(f.Type)...)
		case f.Tag.Get("toml") != "-":
			out = append(out, f.Tag.Get("toml"))
		}
	}
	return out
}
