package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/google/cel-go/common"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/parser"
)

const rulesKey = "x-kubernetes-validations"

// plan writes the schema of the plans of assay-load, in the form of package schema: spec.load, and what clients know
// of spec.target.tls, with the rules of both.
func plan(crd map[string]any, file string) error {
	spec := at(versions(crd)[0], "schema", "openAPIV3Schema", "properties", "spec", "properties")
	load, security := at(spec, "load"), at(spec, "target", "properties", "tls")
	text := map[string]any{"type": "string"}
	fields := map[string]any{"certificateAuthorityFile": text, "clientCertificateFile": text, "clientKeyFile": text}
	for _, name := range []string{"serverName", "protocols", "ciphers", "groups", "verification", "sessionResumption"} {
		fields[name] = at(security, "properties", name)
	}
	security["properties"] = fields
	security[rulesKey] = slices.DeleteFunc(security[rulesKey].([]any), func(rule any) bool {
		return strings.Contains(rule.(map[string]any)["rule"].(string), "certificate") // a plan has none of its target
	})
	root := map[string]any{"type": "object", "required": []string{"load"}, "properties": map[string]any{
		"url": text, "host": at(load, "properties", "requests", "items", "properties", "host"), "credentialsDirectory": text, "requestsFile": text,
		"load": load, "tls": security,
	}}
	inSchema(root)
	if err := parseRules(root); err != nil {
		return err
	}
	var encoded bytes.Buffer
	encoder := json.NewEncoder(&encoded)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(root); err != nil {
		return err
	}
	return os.WriteFile(file, encoded.Bytes(), 0o644)
}

// parseRules replaces the rules of a schema, and of all in it, by their expressions.
func parseRules(schema map[string]any) error {
	rules, _ := schema[rulesKey].([]any)
	for _, rule := range rules {
		rule := rule.(map[string]any)
		text, isText := rule["rule"].(string)
		if !isText {
			continue // a schema that is there twice
		}
		p, err := parser.NewParser(parser.EnableOptionalSyntax(true))
		if err != nil {
			return err
		}
		parsed, errs := p.Parse(common.NewTextSource(text))
		if len(errs.GetErrors()) > 0 {
			return fmt.Errorf("%s: %s", text, errs.ToDisplayString())
		}
		if rule["rule"], err = expression(parsed.Expr()); err != nil {
			return fmt.Errorf("%s: %w", text, err)
		}
	}
	for _, field := range at(schema, "properties") {
		if err := parseRules(field.(map[string]any)); err != nil {
			return err
		}
	}
	if items := at(schema, "items"); items != nil {
		return parseRules(items)
	}
	return nil
}

// expression returns an expression as schema.Rule has it.
func expression(e ast.Expr) (any, error) {
	var call []any
	var args []ast.Expr
	switch e.Kind() {
	case ast.LiteralKind:
		return e.AsLiteral().Value(), nil
	case ast.IdentKind:
		return []any{"name", e.AsIdent()}, nil
	case ast.SelectKind:
		operand, err := expression(e.AsSelect().Operand())
		return []any{".", operand, e.AsSelect().FieldName()}, err
	case ast.ListKind:
		call, args = []any{"[]"}, e.AsList().Elements()
	case ast.CallKind:
		call, args = []any{e.AsCall().FunctionName()}, e.AsCall().Args()
		if e.AsCall().IsMemberFunction() {
			args = append([]ast.Expr{e.AsCall().Target()}, args...)
		}
	default:
		return nil, fmt.Errorf("an expression of kind %d", e.Kind())
	}
	for _, arg := range args {
		encoded, err := expression(arg)
		if err != nil {
			return nil, err
		}
		call = append(call, encoded)
	}
	return call, nil
}
