package surface

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"strings"

	"macaron/internal/errs"
	"macaron/internal/limits"
	"macaron/internal/ui4a/action"
)

// read reads a JSON body strictly. Its errors quote nothing of the body but the name of a
// field that is not known: values may be such that nobody may see them.
func read(r *http.Request, into any, most int64) error {
	if err := limits.ContentType(r.Header.Get("Content-Type")); err != nil {
		return err
	}
	body, err := limits.TextBody(r.Body, r.ContentLength, most)
	if err != nil {
		return err
	}
	dec := json.NewDecoder(bytes.NewReader(body))
	dec.DisallowUnknownFields()
	if err := dec.Decode(into); err != nil {
		return refused(err, into)
	}
	if dec.More() {
		return errs.New(errs.InvalidRequest, "something stands behind the body's JSON object", "send the object alone")
	}
	return nil
}

// refused says which field a body has that it may not have, and which it may. Text that
// could be no field's name is not repeated.
func refused(err error, into any) error {
	known := "the fields are " + strings.Join(fieldsOf(reflect.TypeOf(into).Elem()), ", ")
	_, name, unknown := strings.Cut(err.Error(), "unknown field ")
	switch name = strings.Trim(name, `"`); {
	case unknown && action.IsName(name):
		return errs.New(errs.InvalidRequest, fmt.Sprintf("there is no field %q", name), known).In(name)
	case unknown:
		return errs.New(errs.InvalidRequest, "the body has a field that is not known", known)
	}
	return errs.New(errs.InvalidRequest, "the body is no JSON object, or a field is of the wrong kind", known)
}

// fieldsOf are the names of a struct's fields in JSON.
func fieldsOf(t reflect.Type) (names []string) {
	for i := range t.NumField() {
		name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
		names = append(names, name)
	}
	return names
}
