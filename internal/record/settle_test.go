package record

import (
	"reflect"
	"strings"
	"testing"
	"time"
)

// A settled body is the one that would be read back, whatever is in it: every field is filled,
// lists and maps once with one item and once with none, texts once with what is no UTF-8.
func TestSettledIsWhatIsReadBack(t *testing.T) {
	for _, kind := range []Body{SessionOpened{}, TurnOpened{}, Hop{}, ToolResults{}, TurnClosed{}, Summary{}, SummaryUsed{}, Feedback{}, Deleted{}} {
		for _, items := range []int{0, 1} {
			for _, text := range []string{"x", "\xff", "a\ufffd<"} {
				for _, deep := range []int{0, 1, 9} { // how deep pointers are followed
					v := reflect.New(reflect.TypeOf(kind)).Elem()
					fill(v, items, text, deep)
					r := Record{Body: v.Interface().(Body)}
					plain(&r)
					want, err := EncodeBody(r.Body)
					if err != nil {
						t.Fatal(err)
					}
					body, err := DecodeBody(kind.Kind(), want)
					if err != nil {
						t.Fatal(err)
					}
					if err := r.Settle(); err != nil || !reflect.DeepEqual(r.Body, body) || string(r.Text) != string(want) {
						t.Errorf("%s, %d items, %q, depth %d: %v\n%+v\n%+v", kind.Kind(), items, text, deep, err, r.Body, body)
					}
				}
			}
		}
	}
}

// plain takes away what makes Settle ask the decoder, so that the other way is tested too.
func plain(r *Record) {
	switch b := r.Body.(type) {
	case Hop:
		b.Sampling.ResponseFormat = nil
		r.Body = b
	case TurnOpened:
		b.Tools = b.Tools[:0]
		r.Body = b
	}
}

var raw = reflect.TypeOf([]byte{})

func fill(v reflect.Value, items int, text string, deep int) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(text)
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int32, reflect.Int64:
		v.SetInt(7)
	case reflect.Float64:
		v.SetFloat(0.5)
	case reflect.Struct:
		if v.Type() == reflect.TypeOf(time.Time{}) {
			return
		}
		for i := range v.NumField() {
			fill(v.Field(i), items, text, deep)
		}
	case reflect.Pointer:
		if deep > 0 {
			v.Set(reflect.New(v.Type().Elem()))
			fill(v.Elem(), items, text, deep-1)
		}
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		for range items {
			e := reflect.New(v.Type().Elem()).Elem()
			fill(e, items, text, deep)
			v.SetMapIndex(reflect.ValueOf(strings.ToValidUTF8(text, "?")).Convert(v.Type().Key()), e)
		}
	case reflect.Slice:
		if v.Type().ConvertibleTo(raw) {
			if deep > 1 {
				v.SetBytes([]byte(`{"z": 1}`))
			}
			return
		}
		v.Set(reflect.MakeSlice(v.Type(), items, items))
		for i := range items {
			fill(v.Index(i), items, text, deep)
		}
	}
}
