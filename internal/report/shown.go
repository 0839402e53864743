package report

import (
	"reflect"

	"github.com/assay-dev/assay/internal/printable"
)

// Shown returns a copy of x in which all texts are printable. Texts from outside,
// such as a Server header, may hold what a terminal obeys rather than shows.
func Shown[T any](x T) T { return cleaned(reflect.ValueOf(x), printable.Text).Interface().(T) }

// cleaned returns a copy of a value in which clean was applied to the texts of exported fields, and to the keys of
// maps. Values without such fields, such as histograms, are copied as they are.
func cleaned(v reflect.Value, clean func(string) string) reflect.Value {
	c := reflect.New(v.Type()).Elem()
	c.Set(v)
	switch v.Kind() {
	case reflect.String:
		c.SetString(clean(v.String()))
	case reflect.Pointer:
		if !v.IsNil() {
			c.Set(reflect.New(v.Type().Elem()))
			c.Elem().Set(cleaned(v.Elem(), clean))
		}
	case reflect.Slice:
		if !v.IsNil() {
			c.Set(reflect.MakeSlice(v.Type(), v.Len(), v.Len()))
		}
		fallthrough
	case reflect.Array:
		for i := range v.Len() {
			c.Index(i).Set(cleaned(v.Index(i), clean))
		}
	case reflect.Map:
		if !v.IsNil() {
			c.Set(reflect.MakeMapWithSize(v.Type(), v.Len()))
		}
		for key, value := range v.Seq2() {
			c.SetMapIndex(cleaned(key, clean), cleaned(value, clean))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if field := c.Field(i); field.CanSet() {
				field.Set(cleaned(v.Field(i), clean))
			}
		}
	}
	return c
}
