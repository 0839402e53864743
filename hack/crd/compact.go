package main

import (
	"encoding/json"
	"maps"
	"math"
	"regexp"
	"slices"
	"strings"
)

// ofPods are the fields that are as in the spec of a pod, where kubectl explain describes those below them.
var ofPods = []string{"affinity", "tolerations", "topologySpreadConstraints", "volumes", "hostAliases", "dnsConfig", "securityContext"}

// essential matches the sentences of a description, after the first, that kubectl explain shows.
var essential = regexp.MustCompile(`^(Defaults? |If not set|Required)`)

// sentence separates sentences.
var sentence = regexp.MustCompile(`[.]\s+[A-Z]`)

// compact removes from a schema what takes room in the annotation of kubectl apply and that docs/api.md has: all but the essential
// sentences of descriptions, the descriptions of fields as in pods and of objects with the same fields as another, and
// what the API server takes for granted.
func compact(root map[string]any) {
	seen := map[string]string{}
	// visit returns where the fields of the schema are described, or nothing.
	var visit func(schema map[string]any, path, name string) string
	visit = func(schema map[string]any, path, name string) (also string) {
		switch {
		case path == "kind" || path == "apiVersion": // of every object
			delete(schema, "description")
		case name == "conditions": // as those of every object
			inSchemaBelow(schema)
		case slices.Contains(ofPods, name) && schema["description"] != nil:
			inSchemaBelow(schema)
			also = " As pod.spec." + name + "."
			if name == "securityContext" {
				also = " As pod.spec.containers.securityContext."
			}
		}
		if fields := at(schema, "properties"); fields != nil {
			encoded, err := json.Marshal(fields)
			if err != nil {
				panic(err) // it was decoded
			}
			if first := seen[string(encoded)]; first != "" && strings.Count(string(encoded), `"description"`) > 2 {
				undescribe(fields)
				also = " As " + first + "."
			} else {
				seen[string(encoded)] = path
			}
		}
		for _, field := range slices.Sorted(maps.Keys(at(schema, "properties"))) {
			visit(at(schema, "properties", field), strings.TrimPrefix(path+"."+field, "."), field)
		}
		for _, below := range []string{"items", "additionalProperties"} {
			if inner := at(schema, below); inner != nil {
				delete(inner, "description")
				also += visit(inner, path, "")
			}
		}
		if text, _ := schema["description"].(string); text != "" {
			schema["description"] = short(text, name) + also
		}
		for _, rule := range rules(schema) {
			rule["rule"] = dense(rule["rule"].(string))
		}
		if schema["x-kubernetes-list-type"] == "atomic" {
			delete(schema, "x-kubernetes-list-type") // the default
		}
		if maximum, ok := schema["maximum"].(float64); ok && maximum <= math.MaxInt32 && schema["minimum"] != nil {
			delete(schema, "format")
		}
		return also
	}
	visit(root, "", "")
}

// brief removes from a schema, and from all in it, a shortest length that a rule implies, and from the messages of rules the field
// that an error names before the message. name is that of the field whose schema it is.
func brief(schema map[string]any, name string) {
	if refusesEmpty(schema) {
		delete(schema, "minLength")
	}
	for _, rule := range rules(schema) {
		subjects := []string{name}
		if field, _ := rule["fieldPath"].(string); field != "" {
			subjects = []string{field[1:], field[strings.LastIndex(field, ".")+1:]}
		}
		for _, subject := range subjects {
			if rest, found := strings.CutPrefix(rule["message"].(string), subject+" must "); found {
				rule["message"] = "must " + rest
			}
		}
	}
	for field := range at(schema, "properties") {
		brief(at(schema, "properties", field), field)
	}
	for _, below := range []string{"items", "additionalProperties"} {
		if inner := at(schema, below); inner != nil {
			brief(inner, "")
		}
	}
}

// rules returns the rules of a schema itself.
func rules(schema map[string]any) (rules []map[string]any) {
	all, _ := schema[rulesKey].([]any)
	for _, rule := range all {
		rules = append(rules, rule.(map[string]any))
	}
	return rules
}

// match is a rule that a text matches a regular expression.
var match = regexp.MustCompile(`^self[.]matches\('(.*?)'\)( && .*)?$`)

// refusesEmpty reports whether a text must be at least one character long by one of its rules.
func refusesEmpty(schema map[string]any) bool {
	return schema["minLength"] == 1.0 && slices.ContainsFunc(rules(schema), func(rule map[string]any) bool {
		found := match.FindStringSubmatch(rule["rule"].(string))
		if found == nil {
			return false
		}
		pattern, err := regexp.Compile(strings.ReplaceAll(found[1], `\\`, `\`))
		return err == nil && !pattern.MatchString("")
	})
}

// literal matches the next text in a rule, and spaced an operator or a comma with the spaces around it.
var (
	literal = regexp.MustCompile(`^('(\\.|[^'\\])*'|"(\\.|[^"\\])*")`)
	spaced  = regexp.MustCompile(`\s*(\|\||&&|[=!<>]=|[-+*/%<>,?:])\s*`)
)

// dense returns a rule without the spaces around its operators.
func dense(rule string) string {
	var out strings.Builder
	for rule != "" {
		if text := literal.FindString(rule); text != "" {
			out.WriteString(text)
			rule = rule[len(text):]
			continue
		}
		end := strings.IndexAny(rule, `'"`)
		if end < 0 {
			end = len(rule)
		}
		out.WriteString(spaced.ReplaceAllString(rule[:max(end, 1)], "$1"))
		rule = rule[max(end, 1):]
	}
	return out.String()
}

// inSchemaBelow removes the descriptions of all that is in a schema.
func inSchemaBelow(schema map[string]any) {
	undescribe(schema["properties"])
	inSchema(schema["items"])
	inSchema(schema["additionalProperties"])
}

// short returns the essential sentences of a field's description, without the field's name.
func short(text, name string) string {
	text = strings.Join(strings.Fields(text), " ")
	var kept []string
	for text != "" {
		end := len(text)
		if match := sentence.FindStringIndex(text); match != nil {
			end = match[0] + 1
		}
		if len(kept) == 0 || essential.MatchString(text) {
			kept = append(kept, text[:end])
		}
		text = strings.TrimSpace(text[end:])
	}
	text = strings.Join(kept, " ")
	if rest, found := strings.CutPrefix(text, name+" "); found && name != "" {
		for _, verb := range []string{"is ", "are "} {
			rest = strings.TrimPrefix(rest, verb)
		}
		text = strings.ToUpper(rest[:1]) + rest[1:]
	}
	return text
}
