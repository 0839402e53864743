package check

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/listtype"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/objectmeta"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	apimachineryvalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"sigs.k8s.io/yaml"

	"github.com/assay-dev/assay/config/crd"
	"github.com/assay-dev/assay/internal/hint"
)

// definition is a kind as the API server knows it, checked by the API server's own code.
type definition struct {
	fields     *hint.Fields
	structural *structuralschema.Structural
	values     validation.SchemaValidator
	rules      *cel.Validator
}

// definitions has the kinds that are checked, each read when it is needed first.
var definitions = map[string]func() *definition{
	"BenchmarkRun": sync.OnceValue(func() *definition { return define("benchmarkruns") }),
	"Benchmark":    sync.OnceValue(func() *definition { return define("benchmarks") }),
}

// define reads an embedded CustomResourceDefinition. It panics if it is broken.
func define(plural string) *definition {
	d, err := read(plural)
	if err != nil {
		panic(fmt.Errorf("CustomResourceDefinition of %s: %w", plural, err))
	}
	return d
}

func read(plural string) (*definition, error) {
	text, err := crd.Bases.ReadFile("bases/assay.dev_" + plural + ".yaml")
	if err != nil {
		return nil, err
	}
	var of apiextensionsv1.CustomResourceDefinition
	if err := yaml.Unmarshal(text, &of); err != nil {
		return nil, err
	}
	props, internal := of.Spec.Versions[0].Schema.OpenAPIV3Schema, &apiextensions.JSONSchemaProps{}
	d := &definition{fields: &hint.Fields{}}
	encoded, err := json.Marshal(props)
	if err == nil {
		err = json.Unmarshal(encoded, d.fields)
	}
	if err == nil {
		err = apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(props, internal, nil)
	}
	if err == nil {
		d.structural, err = structuralschema.NewStructural(internal)
	}
	if err == nil {
		d.values, _, err = validation.NewSchemaValidator(internal)
	}
	if err == nil {
		d.rules = cel.NewValidator(d.structural, true, celconfig.PerCallLimit)
	}
	return d, err
}

// Problem is something that is wrong with an object.
type Problem struct {
	// Line is that in the file, 0 if it isn't known.
	Line int `json:"line,omitempty"`
	// Path is that of the field in the object.
	Path string `json:"path"`
	// Message says what is wrong, Hint what to do; it is empty if the message says that.
	Message string `json:"message"`
	Hint    string `json:"hint,omitempty"`
	// ofSchema says that this program's version of the API refuses it.
	ofSchema bool
}

// check returns what the API server would refuse in an object, and what was probably meant. It sets the object's defaults,
// and removes unknown fields.
func (d *definition) check(object map[string]any) (problems []Problem) {
	given := runtime.DeepCopyJSON(object)
	if metadata, is := object["metadata"].(map[string]any); is && metadata["name"] == nil {
		if prefix, is := metadata["generateName"].(string); is {
			metadata["name"] = prefix + "xxxxx" // the API server validates the name that it makes
		}
	}
	unknown := pruning.PruneWithOptions(object, d.structural, true, structuralschema.UnknownFieldPathOptions{TrackUnknownFieldPaths: true})
	meta, _, unknownMeta, err := objectmeta.GetObjectMetaWithOptions(object, objectmeta.ObjectMetaOptions{ReturnUnknownFieldPaths: true})
	if err != nil {
		return []Problem{{Path: "metadata", Message: err.Error()}}
	}
	defaulting.PruneNonNullableNullsWithoutDefaults(object, d.structural)
	defaulting.Default(object, d.structural)
	values := validation.ValidateCustomResource(nil, object, d.values)
	// mistyped reports whether a value, or one that it is in, is of another type than its field.
	mistyped := func(path string) bool {
		return slices.ContainsFunc(values, func(err *field.Error) bool {
			return err.Type == field.ErrorTypeTypeInvalid && (strings.HasPrefix(path+".", err.Field+".") || strings.HasPrefix(path, err.Field+"["))
		})
	}
	for _, path := range slices.Concat(unknown, unknownMeta) {
		if mistyped(path) {
			continue
		}
		problems = append(problems, Problem{Path: path, Message: "unknown field", Hint: d.fields.Unknown(path, valueAt(given, path), given), ofSchema: true})
	}
	var errs field.ErrorList
	if meta != nil {
		meta.Namespace = "default"
		errs = apimachineryvalidation.ValidateObjectMeta(meta, true, apimachineryvalidation.NameIsDNSSubdomain, field.NewPath("metadata"))
	}
	errs = append(errs, values...)
	errs = append(errs, listtype.ValidateListSetsAndMaps(nil, d.structural, object)...)
	if len(problems) > 0 {
		// What is missing is probably what has the wrong name.
		errs = slices.DeleteFunc(errs, func(err *field.Error) bool { return err.Type == field.ErrorTypeRequired })
	} else if !slices.ContainsFunc(errs, blocked) {
		ofRules, _ := d.rules.Validate(context.Background(), nil, d.structural, object, nil, celconfig.RuntimeCELCostBudget)
		errs = append(errs, ofRules...)
	}
	for _, err := range errs {
		path := err.Field
		p := Problem{Path: path, Message: err.ErrorBody(), ofSchema: true}
		if _, types, is := strings.Cut(err.Detail, " in body must be of type "); is && err.Type == field.ErrorTypeTypeInvalid {
			p.Message = "must be of type " + strings.Replace(types, ": ", ", not ", 1)
		} else if mistyped(path) {
			continue
		}
		if err.Type != field.ErrorTypeRequired {
			p.Hint = d.fields.Value(path, valueAt(given, path))
		}
		problems = append(problems, p)
	}
	return distinct(problems)
}

// blocked reports whether the API server evaluates no rules because of an error.
func blocked(err *field.Error) bool {
	return slices.Contains([]field.ErrorType{
		field.ErrorTypeNotSupported, field.ErrorTypeRequired, field.ErrorTypeTooLong, field.ErrorTypeTooMany, field.ErrorTypeTypeInvalid,
	}, err.Type)
}

// distinct returns the problems without repetitions.
func distinct(problems []Problem) (all []Problem) {
	seen := map[Problem]bool{}
	for _, p := range problems {
		if !seen[p] {
			seen[p] = true
			all = append(all, p)
		}
	}
	return all
}

// valueAt returns what a document has at a path such as spec.load.requests[0].path, or nil.
func valueAt(document any, path string) any {
	for _, step := range steps(path) {
		switch of := document.(type) {
		case map[string]any:
			document = of[step]
		case []any:
			i, err := strconv.Atoi(step)
			if err != nil || i >= len(of) {
				return nil
			}
			document = of[i]
		default:
			return nil
		}
	}
	return document
}

// steps returns the names and indexes on a path.
func steps(path string) []string {
	return strings.FieldsFunc(path, func(r rune) bool { return strings.ContainsRune(".[]", r) })
}

// kinds returns the kinds that are checked.
func kinds() []string { return slices.Sorted(maps.Keys(definitions)) }
