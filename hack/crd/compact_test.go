package main

import (
	"reflect"
	"testing"

	"sigs.k8s.io/yaml"
)

func TestShort(t *testing.T) {
	for _, test := range []struct{ name, text, want string }{
		{"size", "size is the number of\nbytes. It is\nrounded up. Defaults to 1.", "The number of bytes. Defaults to 1."},
		{"doors", "doors are open, e.g. at noon. If not set, they are shut.", "Open, e.g. at noon. If not set, they are shut."},
		{"mode", "mode says how: A, or\n\nB.", "Says how: A, or B."},
		{"", "Shop is a shop. It sells.", "Shop is a shop."},
	} {
		if got := short(test.text, test.name); got != test.want {
			t.Errorf("%q: %q, want %q", test.text, got, test.want)
		}
	}
}

func TestDense(t *testing.T) {
	for rule, want := range map[string]string{
		`self.?a.orValue('x , y') != "a + b" || !(self.b in ['-', 'it\'s - b'])`: `self.?a.orValue('x , y')!="a + b"||!(self.b in ['-','it\'s - b'])`,
		`self.a * 2 - 1 >= -1 && has(self.b) ? 1 : 0`:                            `self.a*2-1>=-1&&has(self.b)?1:0`,
	} {
		if got := dense(rule); got != want {
			t.Errorf("%s: %s, want %s", rule, got, want)
		}
	}
}

// TestCompact holds what each step leaves of a schema.
func TestCompact(t *testing.T) {
	const before = `
properties:
  spec:
    description: spec says what. It is kept.
    x-kubernetes-validations:
    - {rule: self == oldSelf, message: must not change}
    - {rule: has(self.port), fieldPath: .server.port, message: server.port must be set}
    properties:
      first:
        description: first is the first time.
        properties: {a: {description: a is a number.}, b: {description: b is another.}, c: {description: c is a third.}}
      second:
        description: second is the second time.
        properties: {a: {description: a is a number.}, b: {description: b is another.}, c: {description: c is a third.}}
      third:
        description: third are more.
        items:
          description: Item is an item.
          properties: {a: {description: a is a number.}, b: {description: b is another.}, c: {description: c is a third.}}
      affinity:
        description: affinity draws pods.
        properties: {nodeAffinity: {description: nodeAffinity draws them to nodes.}}
      name:
        minLength: 1
        x-kubernetes-validations: [{rule: "self.matches('^[a-z]+$') && self != 'a'", message: name must be a name}]
      text:
        minLength: 1
        x-kubernetes-validations: [{rule: "self.matches('^[a-z]*$')", message: must have letters}]
      port: {format: int32, minimum: 1, maximum: 65535}
      count: {format: int32, minimum: 1}
      list: {x-kubernetes-list-type: atomic, items: {description: Item is one., type: string}}
      set: {x-kubernetes-list-type: set, items: {type: string}}
`
	const after = `
properties:
  spec:
    description: Says what.
    x-kubernetes-validations:
    - {rule: has(self.port), fieldPath: .server.port, message: must be set}
    properties:
      first:
        description: The first time.
        properties: {a: {description: A number.}, b: {description: Another.}, c: {description: A third.}}
      second:
        description: The second time. As spec.first.
        properties: {a: {}, b: {}, c: {}}
      third:
        description: More. As spec.first.
        items:
          properties: {a: {}, b: {}, c: {}}
      affinity:
        description: Draws pods. As pod.spec.affinity.
        properties: {nodeAffinity: {}}
      name:
        x-kubernetes-validations: [{rule: "self.matches('^[a-z]+$')&&self!='a'", message: must be a name}]
      text:
        minLength: 1
        x-kubernetes-validations: [{rule: "self.matches('^[a-z]*$')", message: must have letters}]
      port: {minimum: 1, maximum: 65535}
      count: {format: int32, minimum: 1}
      list: {items: {type: string}}
      set: {x-kubernetes-list-type: set, items: {type: string}}
`
	var got, want map[string]any
	for text, value := range map[string]*map[string]any{before: &got, after: &want} {
		if err := yaml.Unmarshal([]byte(text), value); err != nil {
			t.Fatal(err)
		}
	}
	brief(got, "")
	changeable(got)
	compact(got)
	if !reflect.DeepEqual(got, want) {
		text, _ := yaml.Marshal(got)
		t.Errorf("got\n%s", text)
	}
}
