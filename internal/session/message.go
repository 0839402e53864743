package session

import (
	"encoding"
	"fmt"
	"reflect"
	"strings"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// toMessage sets the fields of a message from those of a struct, and returns the
// message. A field of the message has the name that the struct's field has in
// JSON. Strings are sent as valid UTF-8.
func toMessage[M proto.Message](from any, to M) (M, error) {
	return to, setMessage(to.ProtoReflect(), reflect.Indirect(reflect.ValueOf(from)))
}

// fromMessage is the inverse of toMessage. It ignores fields of the message that
// the struct doesn't have.
func fromMessage(from proto.Message, to any) error {
	return setStruct(reflect.ValueOf(to).Elem(), from.ProtoReflect())
}

// counterpart returns the message's field for field i of a struct.
func counterpart(m protoreflect.Message, t reflect.Type, i int) protoreflect.FieldDescriptor {
	name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
	return m.Descriptor().Fields().ByJSONName(name)
}

func setMessage(to protoreflect.Message, from reflect.Value) error {
	for i := range from.NumField() {
		v, field := from.Field(i), counterpart(to, from.Type(), i)
		if v.IsZero() {
			continue
		}
		if field == nil {
			return fmt.Errorf("message %s has no field for %s", to.Descriptor().Name(), from.Type().Field(i).Name)
		}
		switch {
		case field.IsList():
			list := to.Mutable(field).List()
			for j := range v.Len() {
				element, err := toValue(v.Index(j), list.NewElement)
				if err != nil {
					return err
				}
				list.Append(element)
			}
		case field.IsMap():
			entries := to.Mutable(field).Map()
			for key, value := range v.Seq2() {
				element, err := toValue(value, entries.NewValue)
				if err != nil {
					return err
				}
				entries.Set(protoreflect.ValueOfString(key.String()).MapKey(), element)
			}
		default:
			value, err := toValue(v, func() protoreflect.Value { return to.NewField(field) })
			if err != nil {
				return err
			}
			to.Set(field, value)
		}
	}
	return nil
}

func toValue(v reflect.Value, newMessage func() protoreflect.Value) (protoreflect.Value, error) {
	if m, ok := v.Interface().(encoding.BinaryMarshaler); ok {
		data, err := m.MarshalBinary()
		return protoreflect.ValueOfBytes(data), err
	}
	switch v = reflect.Indirect(v); v.Kind() {
	case reflect.Struct:
		m := newMessage()
		return m, setMessage(m.Message(), v)
	case reflect.String:
		return protoreflect.ValueOfString(strings.ToValidUTF8(v.String(), "\uFFFD")), nil
	case reflect.Slice:
		return protoreflect.ValueOfBytes(v.Bytes()), nil
	case reflect.Int, reflect.Int64:
		return protoreflect.ValueOfInt64(v.Int()), nil
	default:
		return protoreflect.ValueOf(v.Interface()), nil
	}
}

func setStruct(to reflect.Value, from protoreflect.Message) error {
	for i := range to.NumField() {
		v, field := to.Field(i), counterpart(from, to.Type(), i)
		if field == nil || !from.Has(field) {
			continue
		}
		value := from.Get(field)
		switch {
		case field.IsList():
			list := value.List()
			v.Set(reflect.MakeSlice(v.Type(), list.Len(), list.Len()))
			for j := range list.Len() {
				if err := setValue(v.Index(j), list.Get(j)); err != nil {
					return err
				}
			}
		case field.IsMap():
			v.Set(reflect.MakeMap(v.Type()))
			value.Map().Range(func(key protoreflect.MapKey, value protoreflect.Value) bool {
				v.SetMapIndex(reflect.ValueOf(key.String()), reflect.ValueOf(value.Interface()))
				return true
			})
		default:
			if err := setValue(v, value); err != nil {
				return err
			}
		}
	}
	return nil
}

func setValue(to reflect.Value, value protoreflect.Value) error {
	if to.Kind() == reflect.Pointer {
		to.Set(reflect.New(to.Type().Elem()))
		if u, ok := to.Interface().(encoding.BinaryUnmarshaler); ok {
			return u.UnmarshalBinary(value.Bytes())
		}
		to = to.Elem()
	}
	if to.Kind() == reflect.Struct {
		return setStruct(to, value.Message())
	}
	to.Set(reflect.ValueOf(value.Interface()).Convert(to.Type()))
	return nil
}
