package check

import (
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation"
)

// notNegative wants a number, if there is one, to be 0 or more.
func notNegative[T ~int32 | ~int64](s *subject, path string, n *T) {
	if n != nil && *n < 0 {
		s.fault(path, "", "%d must not be negative", *n)
	}
}

// share wants a number that is not negative, or a whole percentage; it returns
// whether v is one. No value is one.
func (s *subject) share(path string, v *intstr.IntOrString) bool {
	switch {
	case v == nil:
	case v.Type == intstr.String && len(validation.IsValidPercent(v.StrVal)) > 0:
		s.fault(path, "", "%q is neither a number nor a percentage", v.StrVal)
		return false
	case v.Type == intstr.Int && v.IntVal < 0:
		s.fault(path, "", "%d must not be negative", v.IntVal)
		return false
	}
	return true
}

// part is a share that is not more than the whole.
func (s *subject) part(path string, v *intstr.IntOrString) bool {
	if !s.share(path, v) {
		return false
	}
	if p, ok := percent(v); ok && p > 100 {
		s.fault(path, "", "%s is more than 100%%", v.StrVal)
		return false
	}
	return true
}

// percent returns the number before the sign of a percentage; ok is false for
// anything else.
func percent(v *intstr.IntOrString) (p int, ok bool) {
	if v == nil || v.Type != intstr.String {
		return 0, false
	}
	p, err := strconv.Atoi(strings.TrimSuffix(v.StrVal, "%"))
	return p, err == nil && strings.HasSuffix(v.StrVal, "%")
}

// zero reports a value that is 0 of anything.
func zero(v *intstr.IntOrString) bool {
	if v == nil {
		return true
	}
	if p, ok := percent(v); ok {
		return p == 0
	}
	return v.Type == intstr.Int && v.IntVal == 0
}

// oneOf wants text, if there is any, to be one of the values.
func oneOf[T ~string](s *subject, path string, v T, allowed ...T) bool {
	if v == "" {
		return true
	}
	names := make([]string, len(allowed))
	for i, a := range allowed {
		if a == v {
			return true
		}
		names[i] = string(a)
	}
	s.fault(path, "", "%q is not allowed: want %s", v, either(names))
	return false
}

// either lists the names as a choice.
func either(names []string) string {
	if len(names) < 2 {
		return strings.Join(names, "")
	}
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " or " + names[last]
}
