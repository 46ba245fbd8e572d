package config

import "reflect"

// Change is a setting that differs between two configurations.
type Change struct {
	Key  string
	When When
}

// Diff lists the settings that differ, in the order of the file. Credentials count by their
// value, wherever they were read from.
func Diff(before, after Config) []Change {
	var out []Change
	for _, f := range fields {
		was, is := before.values[f.Key], after.values[f.Key]
		if was != is || is != "" && f.hidden(before) != f.hidden(after) {
			out = append(out, Change{f.Key, f.When})
		}
	}
	if !reflect.DeepEqual(before.Servers, after.Servers) {
		out = append(out, Change{"engines", OnReload})
	}
	if !reflect.DeepEqual(before.Prices, after.Prices) {
		out = append(out, Change{"prices", OnReload})
	}
	if !reflect.DeepEqual(before.MCP, after.MCP) {
		out = append(out, Change{"mcp", AtStart})
	}
	if !reflect.DeepEqual(before.Secrets, after.Secrets) {
		out = append(out, Change{"secrets", AtStart})
	}
	if !reflect.DeepEqual(before.Environment, after.Environment) {
		out = append(out, Change{"environment", AtStart})
	}
	return out
}

// hidden is the credential that a setting is or leads to.
func (f Field) hidden(c Config) Secret {
	switch {
	case f.secret != nil:
		return *f.secret(&c)
	case f.file != nil:
		return *f.file(&c)
	}
	return ""
}
