package browser_test

import "reflect"

// poison appends a text to all exported texts of what x points to. It leaves words of the project's own types alone, as
// Severity, since they are never a user's.
func poison(x any, text string) { poisonValue(reflect.ValueOf(x), text) }

func poisonValue(v reflect.Value, text string) {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			poisonValue(v.Elem(), text)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				poisonValue(v.Field(i), text)
			}
		}
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			poisonValue(v.Index(i), text)
		}
	case reflect.Map:
		if v.Type().Elem() == reflect.TypeFor[string]() {
			for _, key := range v.MapKeys() {
				v.SetMapIndex(key, reflect.ValueOf(v.MapIndex(key).String()+text))
			}
		}
	case reflect.String:
		if v.CanSet() && v.Type() == reflect.TypeFor[string]() && v.Len() > 0 {
			v.SetString(v.String() + text)
		}
	default:
	}
}
