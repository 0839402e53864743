package gitops

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	lua "github.com/yuin/gopher-lua"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// argoDirectory has the layout of Argo CD's resource_customizations.
const argoDirectory = "../../config/gitops/argocd/assay.dev"

// execute runs a script as Argo CD does: with the libraries base, package, table and a restricted os, and the
// object as the global obj. It returns what the script returns.
func execute(t *testing.T, object *unstructured.Unstructured, path ...string) any {
	t.Helper()
	script, err := os.ReadFile(filepath.Join(append([]string{argoDirectory, object.GetKind()}, path...)...))
	if err != nil {
		t.Fatal(err)
	}
	l := lua.NewState(lua.Options{SkipOpenLibs: true})
	defer l.Close()
	for name, open := range map[string]lua.LGFunction{lua.LoadLibName: lua.OpenPackage, lua.BaseLibName: lua.OpenBase, lua.TabLibName: lua.OpenTable} {
		if err := l.CallByParam(lua.P{Fn: l.NewFunction(open), Protect: true}, lua.LString(name)); err != nil {
			t.Fatal(err)
		}
	}
	l.PreloadModule(lua.OsLibName, restrictedOS)
	l.SetContext(t.Context())
	l.SetGlobal("obj", toLua(l, object.Object))
	if err := l.DoString(string(script)); err != nil {
		t.Fatalf("%v: %v", path, err)
	}
	return fromLua(l.Get(-1))
}

// restrictedOS has the functions of os that Argo CD leaves: those of the time. The time stands still.
func restrictedOS(l *lua.LState) int {
	module := l.NewTable()
	l.SetField(module, "time", l.NewFunction(func(l *lua.LState) int { l.Push(lua.LNumber(1700000000)); return 1 }))
	l.SetField(module, "date", l.NewFunction(func(l *lua.LState) int {
		times := map[string]string{"!%Y%m%d%H%M%S": "20231114221320", "!%Y-%m-%dT%H:%M:%SZ": "2023-11-14T22:13:20Z"}
		l.Push(lua.LString(times[l.CheckString(1)]))
		return 1
	}))
	l.Push(module)
	return 1
}

func toLua(l *lua.LState, value any) lua.LValue {
	switch v := value.(type) {
	case bool:
		return lua.LBool(v)
	case string:
		return lua.LString(v)
	case int64:
		return lua.LNumber(v)
	case float64:
		return lua.LNumber(v)
	case []any:
		table := l.NewTable()
		for _, item := range v {
			table.Append(toLua(l, item))
		}
		return table
	case map[string]any:
		table := l.NewTable()
		for key, item := range v {
			table.RawSetString(key, toLua(l, item))
		}
		return table
	}
	return lua.LNil
}

// fromLua returns a value as Argo CD's encoder has it: an empty table becomes an empty list.
func fromLua(value lua.LValue) any {
	switch v := value.(type) {
	case lua.LBool:
		return bool(v)
	case lua.LString:
		return string(v)
	case lua.LNumber:
		if whole := int64(v); lua.LNumber(whole) == v {
			return whole
		}
		return float64(v)
	case *lua.LTable:
		if key, _ := v.Next(lua.LNil); key == lua.LNil || key.Type() == lua.LTNumber {
			list := []any{}
			v.ForEach(func(_, item lua.LValue) { list = append(list, fromLua(item)) })
			return list
		}
		object := map[string]any{}
		v.ForEach(func(key, item lua.LValue) { object[key.String()] = fromLua(item) })
		return object
	}
	return nil
}

// TestArgoHealth checks what Argo CD makes of both kinds in every state.
func TestArgoHealth(t *testing.T) {
	for kind, states := range map[string]map[string]state{"BenchmarkRun": runs(t), "Benchmark": benchmarks(t)} {
		for name, s := range states {
			got, is := execute(t, s.object, "health.lua").(map[string]any)
			if !is || got["status"] != string(s.health) {
				t.Errorf("%s %s: %v, want %s", kind, name, got, s.health)
			}
			if text, is := got["message"].(string); !is || text == "" {
				t.Errorf("%s %s has no message", kind, name)
			}
		}
	}
	created := runs(t)["created"].object.DeepCopy()
	unstructured.RemoveNestedField(created.Object, "status")
	if got := execute(t, created, "health.lua").(map[string]any); got["status"] != string(progressing) {
		t.Errorf("a run without status: %v", got)
	}
}

// TestArgoActions checks that each state offers the actions that have an effect, and what they change.
func TestArgoActions(t *testing.T) {
	for kind, states := range map[string]map[string]state{"BenchmarkRun": runs(t), "Benchmark": benchmarks(t)} {
		for name, s := range states {
			for _, isSuspended := range []bool{false, true} {
				object := s.object.DeepCopy()
				if err := unstructured.SetNestedField(object.Object, isSuspended, "spec", "suspend"); err != nil {
					t.Fatal(err)
				}
				ended := kind == "BenchmarkRun" && s.finished
				want := map[string]bool{"suspend": isSuspended || ended, "resume": !isSuspended || ended, "rerun": isSuspended}
				if kind == "BenchmarkRun" {
					want["rerun"] = !s.finished
				}
				offered := execute(t, object, "actions", "discovery.lua").(map[string]any)
				if len(offered) != len(want) {
					t.Errorf("%s %s: actions %v", kind, name, offered)
				}
				for action, disabled := range want {
					if got := offered[action].(map[string]any)["disabled"]; got != disabled {
						t.Errorf("%s %s, suspended %v: %s is disabled: %v, want %v", kind, name, isSuspended, action, got, disabled)
					}
				}
				for action, value := range map[string]bool{"suspend": true, "resume": false} {
					changed := execute(t, object, "actions", action, "action.lua").(map[string]any)
					if got, _, err := unstructured.NestedBool(changed, "spec", "suspend"); err != nil || got != value {
						t.Errorf("%s %s: %s: %v, %v", kind, name, action, got, err)
					}
				}
			}
		}
	}
	again := execute(t, benchmarks(t)["Passed"].object, "actions", "rerun", "action.lua").(map[string]any)
	if got, _, _ := unstructured.NestedString(again, "metadata", "annotations", "assay.dev/run-round"); got != "2023-11-14T22:13:20Z" {
		t.Errorf("rerun of a Benchmark: %v", again["metadata"])
	}
	created := execute(t, runs(t)["Passed"].object, "actions", "rerun", "action.lua").([]any)
	text, err := json.Marshal(created)
	if err != nil {
		t.Fatal(err)
	}
	resource := created[0].(map[string]any)["resource"].(map[string]any)
	if got := fmt.Sprint(resource["metadata"]); got != "map[name:shop-20231114221320 namespace:default]" || created[0].(map[string]any)["operation"] != "create" {
		t.Errorf("rerun of a run: %s", text)
	}
	if resource["spec"].(map[string]any)["target"].(map[string]any)["image"] != "tomcat:10.1" || resource["status"] != nil {
		t.Errorf("rerun of a run: %s", text)
	}
}
