package tree

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
	"strings"

	kjson "sigs.k8s.io/json"
)

// Error is a fault at one place of a document.
type Error struct {
	// Path is the field in dotted form, such as spec.containers[0].image.
	Path string
	// Line counts from 1 in the file that the document came from; 0 is unknown.
	Line int
	// Msg says what is wrong, Hint what to do about it (may be empty).
	Msg, Hint string
}

func (e *Error) Error() string {
	if e.Path == "" {
		return e.Msg
	}
	return e.Path + ": " + e.Msg
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
