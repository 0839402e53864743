package session

import (
	"encoding"
	"reflect"
	"strings"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// toMessage sets the fields of a message from those of a struct, and returns the
// message. A field of the message has the name that the struct's field has in
// JSON; a test holds that there is one. Strings are sent as valid UTF-8.
func toMessage[M proto.Message](from any, to M) M {
	setMessage(to.ProtoReflect(), reflect.Indirect(reflect.ValueOf(from)))
	return to
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

func setMessage(to protoreflect.Message, from reflect.Value) {
	for i := range from.NumField() {
		v, field := from.Field(i), counterpart(to, from.Type(), i)
		switch {
		case v.IsZero():
		case field.IsList():
			list := to.Mutable(field).List()
			for j := range v.Len() {
				list.Append(toValue(v.Index(j), list.NewElement))
			}
		case field.IsMap():
			entries := to.Mutable(field).Map()
			for key, value := range v.Seq2() {
				entries.Set(toValue(key, nil).MapKey(), toValue(value, entries.NewValue))
			}
		default:
			to.Set(field, toValue(v, func() protoreflect.Value { return to.NewField(field) }))
		}
	}
}

func toValue(v reflect.Value, newMessage func() protoreflect.Value) protoreflect.Value {
	if m, ok := v.Interface().(encoding.BinaryMarshaler); ok {
		data, err := m.MarshalBinary()
		if err != nil {
			panic(err)
		}
		return protoreflect.ValueOfBytes(data)
	}
	switch v = reflect.Indirect(v); v.Kind() {
	case reflect.Struct:
		m := newMessage()
		setMessage(m.Message(), v)
		return m
	case reflect.String:
		return protoreflect.ValueOfString(strings.ToValidUTF8(v.String(), "\uFFFD"))
	case reflect.Slice:
		return protoreflect.ValueOfBytes(v.Bytes())
	case reflect.Int, reflect.Int64:
		return protoreflect.ValueOfInt64(v.Int())
	default:
		return protoreflect.ValueOf(v.Interface())
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
