package contract

import (
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"
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
// bounds are errors that name line and column where the text has them. A contract that
// names other files needs Load.
func Parse(text []byte) (*Contract, error) {
	f, err := decode(text)
	if err != nil {
		return nil, err
	}
	if err := f.alone(); err != nil {
		return nil, f.keys.locate(err)
	}
	c := f.Contract
	return &c, f.keys.locate(c.finish())
}

// file is what one TOML file holds.
type file struct {
	Contract
	keys keys
}

// decode reads the text of one file, without a look at its values.
func decode(text []byte) (*file, error) {
	if len(text) > MaxBytes {
		return nil, errs.Newf(errs.TooLarge, "the contract is larger than %d bytes", MaxBytes)
	}
	f := &file{keys: findKeys(text, reflect.TypeFor[Contract]())}
	if f.keys.deep {
		return nil, f.keys.err()
	}
	if err := toml.Unmarshal(text, &f.Contract); err != nil && (f.keys.broken || len(f.keys.unknown) == 0) {
		return nil, located(err)
	}
	if err := f.keys.err(); err != nil {
		return nil, err
	}
	return f, f.keys.locate(f.checkSchema())
}

// checkSchema wants a schema that this build reads, and no section that it has not.
func (f *file) checkSchema() error {
	switch f.Schema {
	case Schema:
		return nil
	case Schema1:
		for _, s := range sections2 {
			if _, ok := f.keys.places[s]; ok {
				return bad(s, fmt.Sprintf("%s needs schema = %q", s, Schema))
			}
		}
		return nil
	}
	return bad("schema", fmt.Sprintf("schema is %q; this build reads %q and %q", errs.Clip(f.Schema), Schema1, Schema))
}

// alone wants a contract that no other file belongs to.
func (f *file) alone() error {
	for i, s := range f.Skills {
		if s.File != "" {
			return needsFiles(fmt.Sprintf("skills[%d].file", i))
		}
	}
	for i, h := range f.Hooks {
		if h.File != "" {
			return needsFiles(fmt.Sprintf("hooks[%d].file", i))
		}
	}
	return nil
}

func needsFiles(key string) error {
	return errs.New(errs.FormatInvalid, key+" names a file, and this contract was given as a text alone", "give the contract as a file, next to those that it names").In(key)
}

// finish fills in what is left out, checks every value and names the contract.
func (c *Contract) finish() error {
	c.fill()
	if err := c.validate(); err != nil {
		return err
	}
	return c.seal()
}

// locate puts line and column before the message of an error in a key, if the text has it.
func (k *keys) locate(err error) error {
	var e *errs.Error
	if !errors.As(err, &e) {
		return err
	}
	at, ok := k.find(e.Field)
	if !ok {
		return err
	}
	told := *e
	told.Message = at.String() + ": " + e.Message
	return &told
}

// located turns an error of the decoder into one that says where.
func located(err error) error {
	var decode *toml.DecodeError
	if errors.As(err, &decode) {
		row, col := decode.Position()
		return errs.New(errs.FormatInvalid, fmt.Sprintf("line %d, column %d: %s", row, col, strings.TrimPrefix(decode.Error(), "toml: ")), "docs/formats/hcp.md shows the format")
	}
	return errs.Wrap(errs.FormatInvalid, err, "not a contract", "docs/formats/hcp.md shows the format")
}
