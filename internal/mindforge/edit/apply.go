package edit

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/pelletier/go-toml/v2"

	"macaron/internal/contract"
	"macaron/internal/errs"
	"macaron/internal/mindforge"
)

// Apply makes edits one after the other in the contract's text and gives the contract that
// they come to. An edit that does not fit (an entry that is there already, or is not), changes
// nothing, or changes anything beside its component is an error of the code InvalidRequest.
func Apply(c *contract.Contract, edits ...mindforge.Edit) (*contract.Contract, error) {
	now, at, err := apply(c, edits)
	if err != nil && at >= 0 {
		err = of(edits[at], err)
	}
	return now, err
}

// Breaks gives the place of the edit by which Apply fails; -1 where it does not.
func Breaks(c *contract.Contract, edits ...mindforge.Edit) int {
	_, at, _ := apply(c, edits)
	return at
}

// Fits reports whether an edit can be made in a contract as it is.
func Fits(c *contract.Contract, e mindforge.Edit) bool {
	_, err := Apply(c, e)
	return err == nil
}

// apply says which edit an error is about. That of what they come to together is about the one
// behind the last at which the contract was still what it may be: one before it may have left a
// contract that is not valid, for a later one to make up for.
func apply(c *contract.Contract, edits []mindforge.Edit) (*contract.Contract, int, error) {
	now, at, err := together(c, edits)
	if err == nil || at < len(edits) {
		return now, at, err
	}
	for at--; at > 0; at-- {
		if _, _, err := together(c, edits[:at]); err == nil {
			break
		}
	}
	return nil, at, err
}

// together gives the place behind the last edit where only what all come to is at fault.
func together(c *contract.Contract, edits []mindforge.Edit) (now *contract.Contract, at int, err error) {
	if len(edits) == 0 {
		return c, -1, nil
	}
	tree, err := c.Tree()
	if err != nil {
		return nil, -1, err
	}
	scopes := make([]string, len(edits))
	for i, e := range edits {
		if scopes[i], err = on(tree, e); err != nil {
			return nil, i, err
		}
	}
	if now, err = read(tree); err == nil {
		now.TakeComments(c)
		err = alone(c, now, scopes)
	}
	if err != nil {
		return nil, len(edits), err
	}
	return now, -1, nil
}

// read makes a contract of a tree.
func read(tree map[string]any) (*contract.Contract, error) {
	text, err := toml.Marshal(tree)
	if err != nil {
		return nil, errs.Wrap(errs.InvalidRequest, err, "the edited contract cannot be written", "")
	}
	now, err := contract.Parse(text)
	if err != nil {
		return nil, badf(errs.As(err).Next, "the contract would not be valid any more: %s", errs.As(err).Message)
	}
	return now, nil
}

// on makes an edit in a tree, and says which path may be another by it.
func on(tree map[string]any, e mindforge.Edit) (scope string, err error) {
	k, err := Check(e)
	if err != nil {
		return "", err
	}
	return cmp.Or(k.scope, pathOf(e.Component)), k.on(tree, e)
}

// of says which edit an error is about.
func of(e mindforge.Edit, err error) error {
	f := *errs.As(err)
	f.Message = e.Kind + " of " + errs.Clip(e.Component) + ": " + f.Message
	return &f
}

// Check looks at an edit by itself: its kind, its component, the form and length of its value.
func Check(e mindforge.Edit) (Kind, error) {
	k, err := kindOf(e.Kind)
	if err != nil {
		return k, err
	}
	if !k.covers(e.Component) {
		return k, badf("the paths of "+k.Name+" are "+strings.Join(k.Paths, ", "), "%q is no component of %s", errs.Clip(e.Component), k.Name)
	}
	if n := utf8.RuneCountInString(e.Value); n > k.Most || !utf8.ValidString(e.Value) {
		return k, badf("", "the value has %d runes; %d are taken, in UTF-8", n, k.Most)
	}
	_, err = k.value(e.Value)
	return k, err
}

// value reads the value of an edit in the kind's form.
func (k Kind) value(v string) (any, error) {
	switch k.form {
	case nothing:
		if v != "" {
			return nil, bad("the edit takes a value away and has none itself", "leave the value empty")
		}
		return nil, nil
	case integer:
		n, err := strconv.ParseInt(v, 10, 64)
		return n, errs.Wrap(errs.InvalidRequest, err, "the value is no whole number", "")
	case number:
		f, err := strconv.ParseFloat(v, 64)
		return f, errs.Wrap(errs.InvalidRequest, err, "the value is no number", "")
	case table:
		return entry(v)
	}
	if strings.TrimSpace(v) == "" || k.form == line && strings.ContainsFunc(v, breaks) {
		return nil, bad("the value is empty, or has a line break or control character", "give one line of text")
	}
	return v, nil
}

func breaks(r rune) bool {
	return r < ' ' || r == 0x7f || r == '\u2028' || r == '\u2029' || r == '\u0085'
}

// entry reads the keys of a named entry; the name is the component's.
func entry(v string) (map[string]any, error) {
	var t map[string]any
	if err := toml.Unmarshal([]byte(v), &t); err != nil {
		return nil, errs.Wrap(errs.InvalidRequest, err, "the value is not TOML", "give the entry's keys, one a line")
	}
	for _, key := range []string{"name", "file"} {
		if _, there := t[key]; there || len(t) == 0 {
			return nil, bad("the entry is empty, or has name or file among its keys", "the component names it, and its text stands in it")
		}
	}
	return t, nil
}

// pathOf is a component as contract.Diff writes it.
func pathOf(component string) string {
	path, _, _ := strings.Cut(component, "#")
	if name, ok := strings.CutPrefix(path, "adapters."); ok {
		if name = strings.TrimSuffix(name, ".prompt"); strings.Contains(name, ".") {
			return `adapters."` + name + `".prompt`
		}
	}
	return path
}

// alone proves that edits have changed what they say, and nothing else.
func alone(was, now *contract.Contract, scopes []string) error {
	changes, err := contract.Diff(was, now)
	if err != nil {
		return err
	}
	for _, c := range changes {
		if !slices.ContainsFunc(scopes, func(s string) bool { return c.Path == s || strings.HasPrefix(c.Path, s+".") }) {
			return badf("make it an edit of its own", "it would change %s too", errs.Clip(c.Path))
		}
	}
	if len(changes) == 0 && len(scopes) == 1 {
		return unchanged()
	}
	return nil
}

func unchanged() error {
	return bad("nothing would be another than it is", "choose another value")
}
