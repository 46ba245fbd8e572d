package config

import (
	"slices"
	"strings"
)

// SecretFiles lists the files that credentials were read from, and that of the certificate's key.
func (c Config) SecretFiles() []string {
	var out []string
	for _, f := range fields {
		if f.file != nil && c.values[f.Key] != "" {
			out = append(out, c.values[f.Key])
		}
	}
	if c.Door.CertKey != "" {
		out = append(out, c.Door.CertKey)
	}
	for _, s := range c.Servers {
		if s.KeyFile != "" {
			out = append(out, s.KeyFile)
		}
	}
	return out
}

// Strays lists the variables of the environment that begin as ours do and that no setting has.
func (c Config) Strays() []string { return slices.Clone(c.strays) }

// strays finds them; names are those of the whole environment. named are used by the file.
func strays(environment, named []string) []string {
	var out []string
	for _, pair := range environment {
		name, _, _ := strings.Cut(pair, "=")
		ours := func(f Field) bool { return f.Env == name }
		if strings.HasPrefix(name, "MACARON_") && !slices.ContainsFunc(fields, ours) && !slices.Contains(named, name) {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}
