package edit

import (
	"cmp"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/pelletier/go-toml/v2"

	"macaron/internal/contract"
	"macaron/internal/errs"
	"macaron/internal/mindforge"
)

// Apply makes edits one after the other and gives the contract that they come to. An edit
// that does not fit (an entry that is there already, or is not), changes nothing, or changes
// anything beside its component is an error of the code InvalidRequest.
func Apply(c *contract.Contract, edits ...mindforge.Edit) (*contract.Contract, error) {
	for _, e := range edits {
		now, err := apply(c, e)
		if err != nil {
			f := *errs.As(err)
			f.Message = e.Kind + " of " + errs.Clip(e.Component) + ": " + f.Message
			return nil, &f
		}
		c = now
	}
	return c, nil
}

func apply(c *contract.Contract, e mindforge.Edit) (*contract.Contract, error) {
	k, err := Check(e)
	if err != nil {
		return nil, err
	}
	was, err := c.Text()
	if err != nil {
		return nil, err
	}
	var tree map[string]any
	if err := toml.Unmarshal(was, &tree); err != nil {
		return nil, errs.Wrap(errs.Internal, err, "the contract's own text is not TOML", "")
	}
	if err := k.on(tree, e); err != nil {
		return nil, err
	}
	text, err := toml.Marshal(tree)
	if err != nil {
		return nil, errs.Wrap(errs.InvalidRequest, err, "the edited contract cannot be written", "")
	}
	now, err := contract.Parse(text)
	if err != nil {
		return nil, badf(errs.As(err).Next, "the contract would not be valid any more: %s", errs.As(err).Message)
	}
	return now, alone(c, now, k, e)
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

// alone proves that an edit has changed what it says, and nothing else.
func alone(was, now *contract.Contract, k Kind, e mindforge.Edit) error {
	changes, err := contract.Diff(was, now)
	if err != nil {
		return err
	}
	scope := cmp.Or(k.scope, pathOf(e.Component))
	for _, c := range changes {
		if c.Path != scope && !strings.HasPrefix(c.Path, scope+".") {
			return badf("make it an edit of its own", "it would change %s too", errs.Clip(c.Path))
		}
	}
	if len(changes) == 0 {
		return bad("nothing would be another than it is", "choose another value")
	}
	return nil
}
