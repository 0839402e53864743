package report

import (
	"reflect"

	"github.com/assay-dev/assay/internal/printable"
)

// shown returns a copy of x in which all texts are printable. Texts from outside,
// such as a Server header, may hold what a terminal obeys rather than shows.
func shown[T any](x T) T { return cleaned(reflect.ValueOf(x)).Interface().(T) }

// cleaned returns a copy of a value in which the texts of exported fields are printable. Values
// without such fields, such as histograms, are copied as they are.
func cleaned(v reflect.Value) reflect.Value {
	c := reflect.New(v.Type()).Elem()
	c.Set(v)
	switch v.Kind() {
	case reflect.String:
		c.SetString(printable.Text(v.String()))
	case reflect.Pointer:
		if !v.IsNil() {
			c.Set(reflect.New(v.Type().Elem()))
			c.Elem().Set(cleaned(v.Elem()))
		}
	case reflect.Slice:
		if !v.IsNil() {
			c.Set(reflect.MakeSlice(v.Type(), v.Len(), v.Len()))
		}
		fallthrough
	case reflect.Array:
		for i := range v.Len() {
			c.Index(i).Set(cleaned(v.Index(i)))
		}
	case reflect.Map:
		if !v.IsNil() {
			c.Set(reflect.MakeMapWithSize(v.Type(), v.Len()))
		}
		for key, value := range v.Seq2() {
			c.SetMapIndex(cleaned(key), cleaned(value))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if field := c.Field(i); field.CanSet() {
				field.Set(cleaned(v.Field(i)))
			}
		}
	}
	return c
}
