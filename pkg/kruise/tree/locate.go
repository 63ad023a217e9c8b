package tree

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"

	kjson "sigs.k8s.io/json"
	"sigs.k8s.io/kustomize/kyaml/yaml"
)

// fault is the first place of a document that a type cannot hold.
type fault struct {
	path string
	err  error
}

// locate finds that place by decoding piece by piece, in the order of the
// document: the decoder's own complaint names neither list indices nor, for
// types that read themselves (times, quantities), any field. fits judges a piece
// that has no parts. It returns nil when every piece fits.
func locate(n *Node, t reflect.Type, path string, fits func(*Node, reflect.Type) error) *fault {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	n = Root(n)
	if IsNull(n) {
		return nil
	}
	switch {
	case reflect.PointerTo(t).Implements(reflect.TypeFor[json.Unmarshaler]()):
	case t.Kind() == reflect.Struct && IsMap(n):
		return locateIn(n, path, func(key string) (reflect.Type, string) { return fieldType(t, key), key }, fits)
	case t.Kind() == reflect.Map && IsMap(n):
		return locateIn(n, path, func(key string) (reflect.Type, string) { return t.Elem(), "[" + key + "]" }, fits)
	case t.Kind() == reflect.Slice && IsSeq(n):
		for i, item := range n.Content {
			if f := locate(item, t.Elem(), fmt.Sprintf("%s[%d]", path, i), fits); f != nil {
				return f
			}
		}
		return nil
	}
	if err := fits(n, t); err != nil {
		return &fault{path, err}
	}
	return nil
}

// locateIn goes through a mapping; child returns the type of a key's value,
// nil for one that is not known, and the key's step in the path.
func locateIn(n *Node, path string, child func(key string) (reflect.Type, string), fits func(*Node, reflect.Type) error) *fault {
	for i := 0; i+1 < len(n.Content); i += 2 {
		t, step := child(n.Content[i].Value)
		if t == nil {
			continue
		}
		if path != "" && step[0] != '[' {
			step = "." + step
		}
		if f := locate(n.Content[i+1], t, path+step, fits); f != nil {
			return f
		}
	}
	return nil
}

// fieldType returns the type of the field that key is decoded into.
func fieldType(t reflect.Type, key string) reflect.Type {
	for f := range t.Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		inlined := f.Type
		for inlined.Kind() == reflect.Pointer {
			inlined = inlined.Elem()
		}
		switch {
		case name == key && key != "":
			return f.Type
		case name == "" && f.Anonymous && inlined.Kind() == reflect.Struct:
			if found := fieldType(inlined, key); found != nil {
				return found
			}
		}
	}
	return nil
}

func decodes(n *Node, t reflect.Type) error {
	b, err := json.Marshal(Value(n))
	if err != nil {
		return err
	}
	return kjson.UnmarshalCaseSensitivePreserveInts(b, reflect.New(t).Interface())
}

// say puts a decoder's complaint into words of the document.
func say(err error) string {
	if te, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return fmt.Sprintf("%s is not allowed here, want %s", te.Value, shape(te.Type))
	}
	return strings.TrimPrefix(err.Error(), "json: ")
}

// hint says how a scalar is written so that it fits. A yes that is text, as it is to
// kustomize, fits no boolean.
func hint(n *Node, err error) string {
	te, ok := errors.AsType[*json.UnmarshalTypeError](err)
	if !ok || !IsScalar(n) {
		return ""
	}
	switch wanted := te.Type.Kind(); {
	case wanted == reflect.String:
		return "put the value in quotes"
	case wanted != reflect.Bool || !IsString(n):
	case n.Value == "true" || n.Value == "false":
		return "write it without quotes"
	case yaml.IsYaml1_1NonString(n):
		return "write true or false"
	}
	return ""
}

func shape(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Struct, reflect.Map:
		return "a mapping"
	case reflect.Slice, reflect.Array:
		return "a list"
	}
	return t.Kind().String()
}
