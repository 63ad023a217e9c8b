package tree

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// direct reads n into an empty value without writing JSON in between. It reads only what
// has no fault, no unknown field and nothing out of the ordinary, and then as
// [throughJSON] does; else it returns false, and v holds a part.
func direct(n *Node, v reflect.Value) bool { return readerOf(v.Type()).read(Root(n), v) }

// typeReader reads nodes into values of one type.
type typeReader struct {
	once sync.Once
	of   reflect.Type
	into func(n *Node, v reflect.Value) bool
}

// typeReaders are those of all types that were asked for.
var typeReaders sync.Map

func readerOf(t reflect.Type) *typeReader {
	if r, ok := typeReaders.Load(t); ok {
		return r.(*typeReader) //nolint:forcetypeassert // nothing else is kept there
	}
	r, _ := typeReaders.LoadOrStore(t, &typeReader{of: t})
	return r.(*typeReader) //nolint:forcetypeassert // nothing else is kept there
}

// read sets v, which is empty. A null leaves it so, unless the type reads itself.
func (r *typeReader) read(n *Node, v reflect.Value) bool {
	r.once.Do(func() { r.into = reading(r.of) })
	return r.into(n, v)
}

var (
	unmarshaler = reflect.TypeFor[json.Unmarshaler]()
	textual     = reflect.TypeFor[interface{ UnmarshalText(text []byte) error }]()
)

// reading returns how values of a type are read.
func reading(t reflect.Type) func(*Node, reflect.Value) bool {
	switch {
	case t == reflect.TypeFor[intstr.IntOrString]():
		return readIntOrString
	case t.Kind() == reflect.Pointer:
		elem := readerOf(t.Elem())
		return func(n *Node, v reflect.Value) bool {
			if IsNull(n) {
				return true
			}
			v.Set(reflect.New(t.Elem()))
			return elem.read(n, v.Elem())
		}
	case reflect.PointerTo(t).Implements(unmarshaler):
		return readItself
	case reflect.PointerTo(t).Implements(textual):
		return refuse
	}
	if read := readingOf[t.Kind()]; read != nil {
		return unlessNull(read)
	}
	switch t.Kind() {
	case reflect.Struct:
		return unlessNull(readingStruct(t))
	case reflect.Map:
		return unlessNull(readingMap(t))
	case reflect.Slice:
		return unlessNull(readingSlice(t))
	}
	return refuse
}

func refuse(*Node, reflect.Value) bool { return false }

func unlessNull(read func(*Node, reflect.Value) bool) func(*Node, reflect.Value) bool {
	return func(n *Node, v reflect.Value) bool { return IsNull(n) || read(n, v) }
}

// readingOf are the readers of scalars.
var readingOf = map[reflect.Kind]func(*Node, reflect.Value) bool{
	reflect.String: func(n *Node, v reflect.Value) bool {
		if !IsString(n) || !utf8.ValidString(n.Value) {
			return false
		}
		v.SetString(n.Value)
		return true
	},
	reflect.Bool: func(n *Node, v reflect.Value) bool {
		if !IsBool(n) {
			return false
		}
		v.SetBool(Bool(n))
		return true
	},
	reflect.Int: readInt, reflect.Int8: readInt, reflect.Int16: readInt, reflect.Int32: readInt, reflect.Int64: readInt,
}

func readInt(n *Node, v reflect.Value) bool {
	i, ok := Int(n)
	if !ok || v.OverflowInt(i) {
		return false
	}
	v.SetInt(i)
	return true
}

func readIntOrString(n *Node, v reflect.Value) bool {
	var out intstr.IntOrString
	switch i, isInt := Int(n); {
	case isInt && i == int64(int32(i)):
		out.IntVal = int32(i)
	case IsString(n) && utf8.ValidString(n.Value):
		out.Type, out.StrVal = intstr.String, n.Value
	default:
		return false
	}
	v.Set(reflect.ValueOf(out))
	return true
}

// readItself lets a type decode the JSON of a plain scalar, and of other nodes.
func readItself(n *Node, v reflect.Value) bool {
	text, err := json.Marshal(Value(n))
	if err != nil || v.Type() == reflect.TypeFor[resource.Quantity]() && oversized(text) != nil {
		return false
	}
	u, ok := reflect.TypeAssert[json.Unmarshaler](v.Addr())
	return ok && u.UnmarshalJSON(text) == nil
}

func readingMap(t reflect.Type) func(*Node, reflect.Value) bool {
	if t.Key().Kind() != reflect.String || reflect.PointerTo(t.Key()).Implements(textual) {
		return refuse
	}
	elem := readerOf(t.Elem())
	return func(n *Node, v reflect.Value) bool {
		if !IsMap(n) {
			return false
		}
		m := reflect.MakeMapWithSize(t, len(n.Content)/2)
		for i := 0; i+1 < len(n.Content); i += 2 {
			key := n.Content[i].Value
			value := reflect.New(t.Elem()).Elem()
			if !utf8.ValidString(key) || !elem.read(n.Content[i+1], value) {
				return false
			}
			m.SetMapIndex(reflect.ValueOf(key).Convert(t.Key()), value)
		}
		v.Set(m)
		return m.Len() == len(n.Content)/2
	}
}

func readingSlice(t reflect.Type) func(*Node, reflect.Value) bool {
	if t.Elem().Kind() == reflect.Uint8 {
		return refuse
	}
	elem := readerOf(t.Elem())
	return func(n *Node, v reflect.Value) bool {
		if !IsSeq(n) {
			return false
		}
		s := reflect.MakeSlice(t, len(n.Content), len(n.Content))
		for i, item := range n.Content {
			if !elem.read(item, s.Index(i)) {
				return false
			}
		}
		v.Set(s)
		return true
	}
}

// structField is one field of a struct, or of what is embedded in it.
type structField struct {
	// place numbers it among all fields, index leads to it.
	place int
	index []int
	read  *typeReader
	// options are those of its tag.
	options string
}

func readingStruct(t reflect.Type) func(*Node, reflect.Value) bool {
	fields, ok := structFields(t)
	if !ok {
		return refuse
	}
	return func(n *Node, v reflect.Value) bool {
		if !IsMap(n) {
			return false
		}
		var seen [4]uint64
		for i := 0; i+1 < len(n.Content); i += 2 {
			f := fields[n.Content[i].Value]
			if f == nil || seen[f.place/64]&(1<<(f.place%64)) != 0 || !f.read.read(n.Content[i+1], v.FieldByIndex(f.index)) {
				return false
			}
			seen[f.place/64] |= 1 << (f.place % 64)
		}
		return true
	}
}

// structFields are the fields by their names in JSON; ok is false where the rules that
// choose between several of one name would have to be asked, or options other than those
// that leave a field out.
func structFields(t reflect.Type) (fields map[string]*structField, ok bool) {
	fields = map[string]*structField{}
	ok = collectFields(t, nil, fields)
	return fields, ok && len(fields) <= 256
}

func collectFields(t reflect.Type, index []int, fields map[string]*structField) bool {
	for i := range t.NumField() {
		f := t.Field(i)
		tag := f.Tag.Get("json")
		name, options, _ := strings.Cut(tag, ",")
		at := slices.Concat(index, []int{i})
		switch {
		case tag == "-":
			continue
		case f.Anonymous && name == "" && f.Type.Kind() == reflect.Struct && f.IsExported():
			if !collectFields(f.Type, at, fields) {
				return false
			}
			continue
		case f.Anonymous && name == "":
			return false
		case !f.IsExported():
			continue
		}
		if name == "" {
			name = f.Name
		}
		for option := range strings.SplitSeq(options, ",") {
			if option == "string" || option == "format" {
				return false
			}
		}
		if fields[name] != nil {
			return false
		}
		fields[name] = &structField{place: len(fields), index: at, read: readerOf(f.Type), options: options}
	}
	return true
}

// quoted is a JSON string without escapes, as Go text; ok is false for any other.
func quoted(text []byte) (s string, ok bool) {
	if len(text) < 2 || text[0] != '"' {
		return "", false
	}
	for _, c := range text[1 : len(text)-1] {
		if c == '\\' || c == '"' || c < ' ' || c >= utf8.RuneSelf {
			return "", false
		}
	}
	return string(text[1 : len(text)-1]), text[len(text)-1] == '"'
}
