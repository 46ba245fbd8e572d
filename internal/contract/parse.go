package contract

import (
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"macaron/internal/errs"
)

// MaxBytes bounds a contract file.
const MaxBytes = 1 << 20

// Parse reads a contract strictly: unknown keys, wrong types and values out of
// bounds are errors that name line and column where the text has them. A contract that
// names other files needs Open.
func Parse(text []byte) (*Contract, error) {
	s, err := (&reader{}).contract("", text, nil)
	if err != nil {
		return nil, err
	}
	return s.Contract, nil
}

// document is what one TOML file holds.
type document struct {
	Contract
	Imports  []string            `toml:"imports" rule:"count=1..32"` // files that this one goes on from, the last one wins
	Overlays map[string]Contract `toml:"overlays"`                   // parts of a contract that can be laid over this one
}

// decode reads the text of one file: its keys, its types, and every value by its rule.
func decode(file string, text []byte) (document, *node, error) {
	var doc document
	if len(text) > MaxBytes {
		return doc, nil, errs.Newf(errs.TooLarge, "the contract is larger than %d bytes", MaxBytes)
	}
	k := findKeys(file, text, reflect.TypeFor[document]())
	if k.deep {
		return doc, nil, k.err()
	}
	if err := toml.Unmarshal(text, &doc); err != nil && (k.broken || len(k.unknown) == 0) {
		return doc, nil, located(file, err)
	}
	if err := k.err(); err != nil {
		return doc, nil, err
	}
	var table map[string]any
	if err := toml.Unmarshal(text, &table); err != nil {
		return doc, nil, located(file, err)
	}
	tree := newNode(table, "", k, place{file: file, line: 1, col: 1})
	return doc, tree, tree.locate(errors.Join(checkSchema(tree, doc.Schema), obey(table, reflect.TypeFor[document](), ""))) // the first is told
}

// checkSchema wants a schema that this build reads, and no section that it has not.
func checkSchema(tree *node, schema string) error {
	switch schema {
	case Schema:
		return nil
	case Schema1:
		for _, s := range sections2 {
			if _, ok := tree.table[s]; ok {
				return bad(s, fmt.Sprintf("%s needs schema = %q", s, Schema))
			}
		}
		return nil
	}
	return bad("schema", fmt.Sprintf("schema is %q; this build reads %q and %q", errs.Clip(schema), Schema1, Schema))
}

// located turns an error of the decoder into one that says where.
func located(file string, err error) error {
	var decode *toml.DecodeError
	if errors.As(err, &decode) {
		row, col := decode.Position()
		return errs.New(errs.FormatInvalid, fmt.Sprintf("%s: %s", place{file, row, col}, strings.TrimPrefix(decode.Error(), "toml: ")), "docs/formats/hcp.md shows the format")
	}
	return errs.Wrap(errs.FormatInvalid, err, strings.TrimPrefix(file+": not a contract", ": "), "docs/formats/hcp.md shows the format")
}
