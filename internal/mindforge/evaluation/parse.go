package evaluation

import (
	"bytes"
	_ "embed" // the contract of this build
	"errors"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"macaron/internal/errs"
)

// MaxBytes bounds an evaluation contract.
const MaxBytes = 256 << 10

//go:embed evaluation.toml
var shipped []byte

// Parse reads a contract strictly: keys that it does not have, values out of bounds and
// suites that cannot be run are errors.
func Parse(text []byte) (*Contract, error) {
	if len(text) > MaxBytes {
		return nil, errs.Newf(errs.TooLarge, "the evaluation contract is larger than %d bytes", MaxBytes)
	}
	c := &Contract{}
	dec := toml.NewDecoder(bytes.NewReader(text))
	dec.DisallowUnknownFields()
	if err := dec.Decode(c); err != nil {
		return nil, malformed(err)
	}
	return c, c.check()
}

// malformed says where, and what stands there.
func malformed(err error) error {
	message, next := strings.TrimPrefix(err.Error(), "toml: "), "docs/formats/evaluation.md lists the keys"
	var strict *toml.StrictMissingError
	if errors.As(err, &strict) && len(strict.Errors) > 0 {
		e := strict.Errors[0]
		row, _ := e.Position()
		message = "line " + itoa(row) + ": there is no key " + errs.Clip(strings.Join(e.Key(), "."))
		next = "the sections are alpha, splits, statistic, judges, suites, gates, safety, limits, hacking, approval; " + next
	}
	return errs.New(errs.FormatInvalid, "the evaluation contract is malformed: "+errs.Clip(message), next)
}
