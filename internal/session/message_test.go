package session

import (
	"encoding"
	"fmt"
	"math"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/session/sessionpb"
)

// populate gives every field below v a value of its own, so that a field that is
// lost in a conversion fails the test.
func populate(v reflect.Value, next *int64) {
	*next++
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			if _, ok := v.Field(i).Interface().(encoding.BinaryMarshaler); !ok {
				populate(v.Field(i), next)
			}
		}
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		populate(v.Elem(), next)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		for i := range 2 {
			populate(v.Index(i), next)
		}
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		element := reflect.New(v.Type().Elem()).Elem()
		populate(element, next)
		v.SetMapIndex(reflect.ValueOf(fmt.Sprint("key ", *next)), element)
	case reflect.Int, reflect.Int64:
		v.SetInt(math.MinInt64 + *next)
	case reflect.Uint64, reflect.Uint8:
		v.SetUint(math.MaxUint64 - uint64(*next))
	case reflect.Float64:
		v.SetFloat(float64(*next) / 3)
	case reflect.Bool:
		v.SetBool(true)
	case reflect.String:
		v.SetString(fmt.Sprint("text ", *next))
	default:
		panic(v.Kind())
	}
}

// fieldsOf returns the paths of all fields of a message.
func fieldsOf(d protoreflect.MessageDescriptor, path string) []string {
	var all []string
	for i := range d.Fields().Len() {
		field := d.Fields().Get(i)
		name := path + "." + field.JSONName()
		if m := field.Message(); m != nil && !field.IsMap() {
			all = append(all, fieldsOf(m, name)...)
		} else {
			all = append(all, name)
		}
	}
	return all
}

// setFields returns the paths of the fields that are set in a message.
func setFields(m protoreflect.Message, path string) map[string]bool {
	all := map[string]bool{}
	m.Range(func(field protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		name := path + "." + field.JSONName()
		switch {
		case field.Message() == nil || field.IsMap():
			all[name] = true
		case field.IsList():
			for i := range v.List().Len() {
				for name := range setFields(v.List().Get(i).Message(), name) {
					all[name] = true
				}
			}
		default:
			for name := range setFields(v.Message(), name) {
				all[name] = true
			}
		}
		return true
	})
	return all
}

// TestMessagesKeepEverything checks that a struct and its message have the same
// fields, and that none is lost if the message has another one in addition.
func TestMessagesKeepEverything(t *testing.T) {
	for _, test := range []struct {
		value   any
		message proto.Message
		besides string // a field that is tested elsewhere
	}{
		{&Plan{}, &sessionpb.Plan{}, ""},
		{&Watch{}, &sessionpb.Watch{}, ""},
		{&ProbeResult{}, &sessionpb.ProbeResult{}, ""},
		{&result.ScriptTotals{}, &sessionpb.ScriptTotals{}, ".metrics.values"},
	} {
		name := reflect.TypeOf(test.value).Elem().Name()
		next := int64(0)
		populate(reflect.ValueOf(test.value).Elem(), &next)
		m := toMessage(test.value, test.message)
		set := setFields(m.ProtoReflect(), "")
		for _, field := range fieldsOf(m.ProtoReflect().Descriptor(), "") {
			if !set[field] && field != test.besides {
				t.Errorf("%s: %s isn't set from any field", name, field)
			}
		}
		encoded, err := proto.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		encoded = protowire.AppendString(protowire.AppendTag(encoded, 1000, protowire.BytesType), "from a later version")
		received := m.ProtoReflect().New().Interface()
		if err := proto.Unmarshal(encoded, received); err != nil {
			t.Fatal(err)
		}
		got := reflect.New(reflect.TypeOf(test.value).Elem()).Interface()
		if err := fromMessage(received, got); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(test.value, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestEmptyMessages(t *testing.T) {
	for _, want := range []*Plan{{}, {ThinkTime: &ThinkTime{}, Warmup: &Amount{}}} {
		var got Plan
		if err := fromMessage(toMessage(want, &sessionpb.Plan{}), &got); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(*want, got); diff != "" {
			t.Error(diff)
		}
	}
}

// TestTextsAreSentAsUTF8 checks that invalid UTF-8 is replaced: a message with it
// can't be sent.
func TestTextsAreSentAsUTF8(t *testing.T) {
	m := toMessage(&Plan{Host: "caf\xe9", Script: &Script{Tags: map[string]string{"a": "\xff"}}}, &sessionpb.Plan{})
	if _, err := proto.Marshal(m); err != nil || m.GetHost() != "caf\uFFFD" || m.GetScript().GetTags()["a"] != "\uFFFD" {
		t.Errorf("%v, %v", m, err)
	}
}
