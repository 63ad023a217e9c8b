package tree

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"reflect"
	"strconv"
	"strings"
	"unicode"

	kjson "sigs.k8s.io/json"
	"sigs.k8s.io/kustomize/kyaml/yaml"
)

// Error is a fault at one place of a document.
type Error struct {
	// Path is the field in dotted form, such as spec.containers[0].image.
	Path string
	// Line counts from 1 in the file that the document came from; 0 is unknown.
	Line int
	// Msg is what is wrong, Hint what to do about it (may be empty).
	Msg, Hint string
}

func (e *Error) Error() string {
	if e.Path == "" {
		return e.Msg
	}
	return OneLine(e.Path) + ": " + e.Msg
}

// OneLine writes line breaks and other control characters of a name in a message as escapes: a line from the input could pass for a message.
func OneLine(name string) string {
	if strings.ContainsFunc(name, func(r rune) bool { return unicode.IsControl(r) || unicode.In(r, unicode.Zl, unicode.Zp) }) {
		name = strconv.Quote(name)
		name = name[1 : len(name)-1]
	}
	return name
}

// Errorf returns an *Error at the field path below root; its line is that of
// the deepest part of the path which exists.
func Errorf(root *Node, path, hint, format string, args ...any) *Error {
	return &Error{Path: path, Line: LineOf(root, path), Msg: fmt.Sprintf(format, args...), Hint: hint}
}

// Decode reads n into the typed value into, which must be a pointer to a type
// with json tags. Text where a number is due (and so on) is a *Error; unknown
// fields are returned as dotted paths and are no error.
func Decode(n *Node, into any) (unknown []string, err error) {
	v := reflect.ValueOf(into)
	if fresh := v.Kind() == reflect.Pointer && !v.IsNil() && v.Elem().IsZero(); fresh {
		if direct(n, v.Elem()) {
			return nil, nil
		}
		v.Elem().SetZero()
	}
	return throughJSON(n, into)
}

// throughJSON is [Decode] by way of JSON.
func throughJSON(n *Node, into any) (unknown []string, err error) {
	b, err := json.Marshal(Value(n))
	if err != nil {
		return nil, &Error{Msg: err.Error()}
	}
	if oversized(b) != nil {
		if err := bounded(n, reflect.TypeOf(into)); err != nil {
			return nil, err
		}
	}
	strict, err := kjson.UnmarshalStrict(b, into)
	if err != nil {
		return nil, typed(n, reflect.TypeOf(into), err)
	}
	for _, s := range strict {
		if f, ok := strings.CutPrefix(s.Error(), "unknown field "); ok {
			name, qerr := strconv.Unquote(f)
			if qerr != nil {
				name = f
			}
			unknown = append(unknown, name)
		}
	}
	return unknown, nil
}

// typed turns the decoder's complaint into one that names field and line.
func typed(n *Node, t reflect.Type, err error) error {
	if f := locate(n, t, "", decodes); f != nil {
		at, _ := At(n, f.path)
		return Errorf(n, f.path, hint(at, f.err), "%s", say(f.err))
	}
	return Errorf(n, "", "", "%s", say(err))
}

// At returns the node that a dotted path with [i] indices leads to, and
// whether the whole path exists; otherwise the deepest node on the way.
func At(root *Node, path string) (n *Node, whole bool) {
	n = Root(root)
	for _, step := range Steps(path) {
		var next *Node
		if i, err := strconv.Atoi(step); err == nil && IsSeq(n) {
			if i >= 0 && i < len(n.Content) {
				next = n.Content[i]
			}
		} else {
			next = field(n, step)
		}
		if next == nil {
			return n, false
		}
		n = next
	}
	return n, true
}

// LineOf returns the line of the node that path leads to, or of the deepest
// part of it that exists; 0 when nothing is known.
func LineOf(root *Node, path string) int {
	n, _ := At(root, path)
	if n == nil {
		return 0
	}
	return n.Line
}

// Steps splits a dotted path: a.b[2].c and metadata.labels[k8s.io/x] alike.
func Steps(path string) []string {
	var steps []string
	var cur bytes.Buffer
	flush := func() {
		if cur.Len() > 0 {
			steps = append(steps, cur.String())
			cur.Reset()
		}
	}
	inside := false
	for _, c := range path {
		switch {
		case c == '[' && !inside:
			flush()
			inside = true
		case c == ']' && inside:
			flush()
			inside = false
		case c == '.' && !inside:
			flush()
		default:
			cur.WriteRune(c)
		}
	}
	flush()
	return steps
}

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

// say rewrites a decoder's error in terms of the document.
func say(err error) string {
	if te, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return fmt.Sprintf("%s is not allowed here, want %s", te.Value, shape(te.Type))
	}
	if text := err.Error(); strings.Contains(text, "quantities must match the regular expression") {
		return "not an amount: want a number, with a unit or without, such as 500m, 2 or 1.5Gi"
	}
	return strings.TrimPrefix(err.Error(), "json: ")
}

// hint reports how a scalar is written so that it fits. A yes that is text, as it is to
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

// farthest is how many letters a slip of the fingers changes at most.
const farthest = 2

// Nearest returns the word that an unknown one probably means: the one with the fewest letters to
// add, drop or change, two at most, in any case. It is empty without one.
func Nearest(word string, words iter.Seq[string]) string {
	best, least := "", farthest+1
	for w := range words {
		if d := EditDistance(strings.ToLower(w), strings.ToLower(word)); d < least || d == least && w < best {
			best, least = w, d
		}
	}
	return best
}

// Akin returns the only one of the words that begins or ends with this one, or with which this one
// begins or ends, by four letters or more. It is empty if there is none, or several.
func Akin(word string, words iter.Seq[string]) string {
	found, n := "", 0
	for w := range words {
		if part(w, word) || part(word, w) {
			found, n = w, n+1
		}
	}
	if n != 1 {
		return ""
	}
	return found
}

// part reports whether long begins or ends with short, whatever their case.
func part(long, short string) bool {
	long, short = strings.ToLower(long), strings.ToLower(short)
	return len(short) >= 4 && (strings.HasPrefix(long, short) || strings.HasSuffix(long, short))
}

// EditDistance is the number of letters to add, drop or change that leads from a
// to b (Levenshtein).
func EditDistance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		before := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := before
			if a[i] != b[j] {
				cost = 1 + min(before, row[j], row[j+1])
			}
			before, row[j+1] = row[j+1], cost
		}
	}
	return row[len(b)]
}
