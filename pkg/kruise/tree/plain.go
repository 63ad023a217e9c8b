package tree

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"k8s.io/apimachinery/pkg/util/intstr"
)

// Plain returns a typed object as decoded JSON, with numbers as float64: what
// encoding/json makes of the JSON that it writes of the object, which shares nothing with
// the object.
func Plain(obj any) (map[string]any, error) {
	if v, ok := plainly(obj, asFloat); ok {
		if m, ok := v.(map[string]any); ok {
			return m, nil
		}
	}
	text, err := json.Marshal(obj)
	if err != nil {
		return nil, err
	}
	var m map[string]any
	if err := json.Unmarshal(text, &m); err != nil {
		return nil, fmt.Errorf("%T is not a mapping: %w", obj, err)
	}
	return m, nil
}

func asFloat(i int64) any   { return float64(i) }
func asInteger(i int64) any { return i }

// plainly writes obj without JSON in between; false where something is out of the
// ordinary.
func plainly(obj any, number func(int64) any) (any, bool) {
	v := reflect.ValueOf(obj)
	if !v.IsValid() {
		return nil, true
	}
	return writerOf(v.Type()).write(v, number)
}

// writeFunc is how a value becomes decoded JSON; number makes its integers.
type writeFunc func(v reflect.Value, number func(int64) any) (any, bool)

// typeWriter writes the values of one type.
type typeWriter struct {
	once sync.Once
	of   reflect.Type
	how  writeFunc
}

// typeWriters are those of all types that were asked for.
var typeWriters sync.Map

func writerOf(t reflect.Type) *typeWriter {
	if w, ok := typeWriters.Load(t); ok {
		return w.(*typeWriter) //nolint:forcetypeassert // nothing else is kept there
	}
	w, _ := typeWriters.LoadOrStore(t, &typeWriter{of: t})
	return w.(*typeWriter) //nolint:forcetypeassert // nothing else is kept there
}

func (w *typeWriter) write(v reflect.Value, number func(int64) any) (any, bool) {
	w.once.Do(func() { w.how = writingOf(w.of) })
	return w.how(v, number)
}

var (
	marshaler   = reflect.TypeFor[json.Marshaler]()
	textWriting = reflect.TypeFor[interface{ MarshalText() ([]byte, error) }]()
	zeroer      = reflect.TypeFor[interface{ IsZero() bool }]()
)

func writingOf(t reflect.Type) writeFunc {
	switch {
	case t == reflect.TypeFor[intstr.IntOrString]():
		return writeIntOrString
	case t.Kind() == reflect.Pointer:
		elem := writerOf(t.Elem())
		return func(v reflect.Value, number func(int64) any) (any, bool) {
			if v.IsNil() {
				return nil, true
			}
			return elem.write(v.Elem(), number)
		}
	case t.Implements(marshaler):
		return writeItself
	case reflect.PointerTo(t).Implements(marshaler), t.Implements(textWriting), reflect.PointerTo(t).Implements(textWriting):
		return unwritten
	}
	switch t.Kind() {
	case reflect.String:
		return func(v reflect.Value, _ func(int64) any) (any, bool) { return v.String(), utf8.ValidString(v.String()) }
	case reflect.Bool:
		return func(v reflect.Value, _ func(int64) any) (any, bool) { return v.Bool(), true }
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return func(v reflect.Value, number func(int64) any) (any, bool) { return number(v.Int()), true }
	case reflect.Struct:
		return writingStruct(t)
	case reflect.Map:
		return writingMap(t)
	case reflect.Slice:
		return writingSlice(t)
	}
	return unwritten
}

func unwritten(reflect.Value, func(int64) any) (any, bool) { return nil, false }

func writeIntOrString(v reflect.Value, number func(int64) any) (any, bool) {
	x, ok := reflect.TypeAssert[intstr.IntOrString](v)
	switch {
	case !ok:
		return nil, false
	case x.Type == intstr.Int:
		return number(int64(x.IntVal)), true
	}
	return x.StrVal, x.Type == intstr.String && utf8.ValidString(x.StrVal)
}

// writeItself takes the text that a value writes of itself, such as a quantity or a time.
func writeItself(v reflect.Value, _ func(int64) any) (any, bool) {
	m, ok := reflect.TypeAssert[json.Marshaler](v)
	if !ok {
		return nil, false
	}
	text, err := m.MarshalJSON()
	if err != nil {
		return nil, false
	}
	if string(text) == "null" {
		return nil, true
	}
	return quoted(text)
}

func writingMap(t reflect.Type) writeFunc {
	if t.Key().Kind() != reflect.String || t.Key().Implements(textWriting) {
		return unwritten
	}
	elem := writerOf(t.Elem())
	return func(v reflect.Value, number func(int64) any) (any, bool) {
		if v.IsNil() {
			return nil, true
		}
		m := make(map[string]any, v.Len())
		for it := v.MapRange(); it.Next(); {
			value, ok := elem.write(it.Value(), number)
			if !ok || !utf8.ValidString(it.Key().String()) {
				return nil, false
			}
			m[it.Key().String()] = value
		}
		return m, true
	}
}

func writingSlice(t reflect.Type) writeFunc {
	if t.Elem().Kind() == reflect.Uint8 {
		return unwritten
	}
	elem := writerOf(t.Elem())
	return func(v reflect.Value, number func(int64) any) (any, bool) {
		if v.IsNil() {
			return nil, true
		}
		s := make([]any, v.Len())
		for i := range s {
			var ok bool
			if s[i], ok = elem.write(v.Index(i), number); !ok {
				return nil, false
			}
		}
		return s, true
	}
}

// fieldWriter writes a field of a struct.
type fieldWriter struct {
	name  string
	index []int
	write *typeWriter
	// omitEmpty and omitZero leave values out.
	omitEmpty, omitZero bool
}

func writingStruct(t reflect.Type) writeFunc {
	fields, ok := structFields(t)
	if !ok {
		return unwritten
	}
	list := make([]fieldWriter, 0, len(fields))
	for name, f := range fields {
		options := strings.Split(f.options, ",")
		list = append(list, fieldWriter{
			name: name, index: f.index, write: writerOf(t.FieldByIndex(f.index).Type),
			omitEmpty: slices.Contains(options, "omitempty"), omitZero: slices.Contains(options, "omitzero"),
		})
	}
	return func(v reflect.Value, number func(int64) any) (any, bool) {
		m := map[string]any{}
		for i := range list {
			f := &list[i]
			field := v.FieldByIndex(f.index)
			if f.omitEmpty && isEmpty(field) || f.omitZero && isZero(field) {
				continue
			}
			value, ok := f.write.write(field, number)
			if !ok {
				return nil, false
			}
			m[f.name] = value
		}
		return m, true
	}
}

// isZero is what the option omitzero leaves out.
func isZero(v reflect.Value) bool {
	switch t := v.Type(); {
	case t.Implements(zeroer):
		return v.Kind() == reflect.Pointer && v.IsNil() || callIsZero(v)
	case reflect.PointerTo(t).Implements(zeroer):
		own := reflect.New(t)
		own.Elem().Set(v)
		return callIsZero(own)
	}
	return v.IsZero()
}

func callIsZero(v reflect.Value) bool {
	z, ok := reflect.TypeAssert[interface{ IsZero() bool }](v)
	return ok && z.IsZero()
}

// isEmpty is what encoding/json takes for empty.
func isEmpty(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Array, reflect.Map, reflect.Slice, reflect.String:
		return v.Len() == 0
	case reflect.Struct:
		return false
	}
	return v.IsZero()
}
