package contract

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"macaron/internal/errs"
)

// MaxBytes bounds a contract file.
const MaxBytes = 1 << 20

// Load reads and parses a contract file.
func Load(path string) (*Contract, error) {
	text, err := Read(path)
	if err != nil {
		return nil, err
	}
	return ParseFile(path, text)
}

// Read gives the text of a contract file, of at most one byte more than Parse takes.
func Read(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, errs.Wrap(errs.NotFound, err, "the contract "+path+" cannot be opened", "start macaron where a macaron.toml is, or name one with --contract")
	}
	defer f.Close() // read-only
	text, err := io.ReadAll(io.LimitReader(f, MaxBytes+1))
	return text, errs.Wrap(errs.StorageFailed, err, "the contract "+path+" cannot be read", "check the file and its disk")
}

// ParseFile is Parse of a file's text, with the file in its errors.
func ParseFile(path string, text []byte) (*Contract, error) {
	c, err := Parse(text)
	if err != nil {
		e := *errs.As(err)
		e.Message = path + ": " + e.Message
		return nil, &e
	}
	return c, nil
}

// Parse reads a contract strictly: unknown keys, wrong types and values out of
// bounds are errors that name line and column where the text has them.
func Parse(text []byte) (*Contract, error) {
	if len(text) > MaxBytes {
		return nil, errs.Newf(errs.TooLarge, "the contract is larger than %d bytes", MaxBytes)
	}
	var c Contract
	dec := toml.NewDecoder(bytes.NewReader(text))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&c); err != nil {
		return nil, locate(err)
	}
	if err := c.validate(); err != nil {
		return nil, err
	}
	return &c, c.seal()
}

// locate turns a decoder error into one that says where.
func locate(err error) error {
	var strict *toml.StrictMissingError
	if errors.As(err, &strict) && len(strict.Errors) > 0 {
		first := strict.Errors[0]
		row, col := first.Position()
		message := fmt.Sprintf("line %d, column %d: unknown key %q", row, col, strings.Join(first.Key(), "."))
		if n := len(strict.Errors) - 1; n > 0 {
			message += fmt.Sprintf(" (and %d more)", n)
		}
		return errs.New(errs.FormatInvalid, message, "docs/formats/hcp.md lists the keys")
	}
	var decode *toml.DecodeError
	if errors.As(err, &decode) {
		row, col := decode.Position()
		return errs.New(errs.FormatInvalid, fmt.Sprintf("line %d, column %d: %s", row, col, strings.TrimPrefix(decode.Error(), "toml: ")), "docs/formats/hcp.md shows the format")
	}
	return errs.Wrap(errs.FormatInvalid, err, "not a contract", "docs/formats/hcp.md shows the format")
}
