package html

import (
	"reflect"
	"testing"
	"text/template/parse"
)

// TestTemplates_CallNoMethods: released binaries have no methods that only templates call,
// so each name after a dot is a field, or an argument of dict.
func TestTemplates_CallNoMethods(t *testing.T) {
	fields := map[string]bool{"sub": true, "id": true, "text": true, "hasOld": true, "hasNew": true, "old": true, "new": true}
	collect(reflect.TypeFor[page](), fields, map[reflect.Type]bool{})
	seen := 0
	for _, one := range pages().Templates() {
		visit(reflect.ValueOf(one.Tree.Root), func(name string) {
			if seen++; !fields[name] {
				t.Errorf("%s: %s is not a field", one.Name(), name)
			}
		})
	}
	if seen < 100 {
		t.Fatalf("only %d names found: the walk is broken", seen)
	}
}

// collect names the fields of a type and of all types below it.
func collect(t reflect.Type, names map[string]bool, done map[reflect.Type]bool) {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice || t.Kind() == reflect.Map || t.Kind() == reflect.Array {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct || done[t] {
		return
	}
	done[t] = true
	for f := range t.Fields() {
		names[f.Name] = true
		collect(f.Type, names, done)
	}
}

// visit calls found with each name after a dot.
func visit(v reflect.Value, found func(string)) {
	for v.Kind() == reflect.Pointer || v.Kind() == reflect.Interface {
		if v.IsNil() {
			return
		}
		var names []string
		switch n := v.Interface().(type) {
		case *parse.Tree:
			return // the way up
		case *parse.FieldNode:
			names = n.Ident
		case *parse.VariableNode:
			names = n.Ident[1:]
		case *parse.ChainNode:
			names = n.Field
		}
		for _, name := range names {
			found(name)
		}
		v = v.Elem()
	}
	switch v.Kind() {
	case reflect.Slice:
		for i := range v.Len() {
			visit(v.Index(i), found)
		}
	case reflect.Struct:
		for f, field := range v.Fields() {
			if f.IsExported() {
				visit(field, found)
			}
		}
	}
}
