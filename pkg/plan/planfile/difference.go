package planfile

import (
	"bytes"
	"fmt"
	"reflect"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
)

// unwritten are the fields of a plan that are not in its file.
var unwritten = map[reflect.Type]string{
	reflect.TypeFor[plan.Plan](): "Paused", reflect.TypeFor[plan.Change](): "Spec",
}

// difference finds the first field in which two values of one type differ, as a file has them: an
// empty list is none, and numbers of JSON are equal whatever type they were decoded to.
func difference(a, b reflect.Value) (path string, differs bool) {
	switch a.Kind() {
	case reflect.Struct:
		for i := range a.NumField() {
			name := a.Type().Field(i).Name
			if unwritten[a.Type()] == name {
				continue
			}
			if path, differs := difference(a.Field(i), b.Field(i)); differs {
				return "." + name + path, true
			}
		}
		return "", false
	case reflect.Slice:
		if a.Len() != b.Len() {
			return "", true
		}
		for i := range a.Len() {
			if path, differs := difference(a.Index(i), b.Index(i)); differs {
				return fmt.Sprintf("[%d]%s", i, path), true
			}
		}
		return "", false
	case reflect.Pointer:
		if a.IsNil() || b.IsNil() {
			return "", a.IsNil() != b.IsNil()
		}
		return difference(a.Elem(), b.Elem())
	case reflect.Map:
		return "", a.Len()+b.Len() > 0 && !sameJSON(a.Interface(), b.Interface())
	case reflect.Interface:
		return "", !sameJSON(a.Interface(), b.Interface())
	}
	return "", !a.Equal(b)
}

func sameJSON(a, b any) bool {
	one, err := encoded(a)
	other, otherErr := encoded(b)
	return err == nil && otherErr == nil && bytes.Equal(one, other)
}
