package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// shop is a definition with each kind of field. Its kinds contain the same object.
const shop = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: shops.example.org}
spec:
  group: example.org
  names: {kind: Shop, plural: shops, shortNames: [sh]}
  scope: Namespaced
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        description: "Shop sells\nthings.\n\nTo <anybody>."
        type: object
        required: [spec]
        properties:
          apiVersion: {type: string}
          kind: {type: string}
          metadata: {type: object}
          spec:
            type: object
            minProperties: 1
            description: spec says what is sold.
            required: [name]
            x-kubernetes-validations:
            - {rule: "self.price > 0", message: "price must not be free | given away"}
            - {rule: "has(self.name)"}
            properties:
              name: {type: string, description: "name is a|b.", minLength: 1, maxLength: 63, pattern: "^a|b$"}
              price: {type: integer, default: 3, minimum: 1, maximum: 2000000}
              kinds: {type: array, x-kubernetes-list-type: set, maxItems: 1, items: {type: string, enum: [A, B]}}
              size: {x-kubernetes-int-or-string: true, x-kubernetes-validations: [{rule: "true", message: must be large}]}
              open: {type: string, format: date-time}
              labels: {type: object, additionalProperties: {type: string}}
              door: {type: object, description: door is the front., properties: {wide: {type: boolean}}}
              doors:
                type: array
                description: doors are the others.
                x-kubernetes-list-map-keys: [wide]
                items: {type: object, properties: {wide: {type: boolean}}}
`

const want = `## Shop

Namespaced, ` + "`example.org/v1`, short name `sh`" + `.

Shop sells things.

To &lt;anybody>.

| field | type | description | default | validation |
| --- | --- | --- | --- | --- |
| ` + "`apiVersion`" + ` | string | The version of this schema: ` + "`example.org/v1`" + `. |  |  |
| ` + "`kind`" + ` | string | ` + "`Shop`" + `. |  |  |
| ` + "`spec`" + ` | [object](#shopspec) | spec says what is sold. |  | required<br>at least 1 field |

### Shop.spec

spec says what is sold.

| field | type | description | default | validation |
| --- | --- | --- | --- | --- |
| ` + "`door`" + ` | [object](#shopspecdoor) | door is the front. |  |  |
| ` + "`doors`" + ` | array of [object](#shopspecdoor) | doors are the others. |  | no two items with the same ` + "`wide`" + ` |
| ` + "`kinds`" + ` | array of string |  |  | at most 1 item<br>no item twice<br>each: one of ` + "`A`, `B`" + ` |
| ` + "`labels`" + ` | map of string |  |  |  |
| ` + "`name`" + ` | string | name is a\|b. |  | required<br>1 to 63 characters<br>matches ` + "`^a\\|b$`" + ` |
| ` + "`open`" + ` | time |  |  |  |
| ` + "`price`" + ` | integer |  | ` + "`3`" + ` | 1 to 2000000 |
| ` + "`size`" + ` | quantity |  |  | must be large |

Rules:

- price must not be free | given away
- ` + "`has(self.name)`" + `

### Shop.spec.door

door is the front.

| field | type | description | default | validation |
| --- | --- | --- | --- | --- |
| ` + "`wide`" + ` | boolean |  |  |  |
`

func TestReference(t *testing.T) {
	file := filepath.Join(t.TempDir(), "shops.yaml")
	if err := os.WriteFile(file, []byte(shop), 0o600); err != nil {
		t.Fatal(err)
	}
	output := filepath.Join(t.TempDir(), "api.md")
	if err := run([]string{output, file}); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(output)
	if err != nil {
		t.Fatal(err)
	}
	_, got, found := strings.Cut(string(text), "- [Shop](#shop)\n\n")
	if diff := cmp.Diff(want, got); !found || diff != "" {
		t.Error(diff)
	}
	for name, args := range map[string][]string{
		"no definition": {output}, "a missing one": {output, file + ".yml"}, "something else": {output, output},
	} {
		if err := run(args); err == nil {
			t.Errorf("%s was accepted", name)
		}
	}
}
