package rules

import (
	"regexp"
	"strconv"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/redact"
)

// Masked stands for a value that a plan does not show.
const Masked = redact.Masked

// secretFlag matches a flag whose value is the next argument.
var secretFlag = regexp.MustCompile(`(?i)^--?[\w.-]*(` + redact.Words + `)[\w.-]*$`)

// Mask returns a value without what is likely to be secret: path leads to it in
// decoded JSON, and begins with "metadata" for a label or annotation. Values of
// Secrets are not known from others: whoever has some hides all.
func Mask(path []string, v any, object map[string]any) any { return masked(path, v, object) }

// SecretName reports whether what goes by a name is likely to be secret: an environment
// variable, a label, an annotation or a flag. Values out of Secrets are never here at all:
// a template only refers to them.
func SecretName(name string) bool { return redact.Name(name) }

// masked returns a value of a template, found at path, without what is likely to
// be secret. A plan is kept in Git and in the cluster, and is read by many.
func masked(path []string, v any, template map[string]any) any {
	last := path[len(path)-1]
	if path[0] == "metadata" && redact.Name(last) {
		return hide(v)
	}
	switch parent := Lookup(template, path[:len(path)-1]).(type) {
	case map[string]any:
		if secretValue(parent, last) {
			return hide(v)
		}
	case []any:
		if i, err := strconv.Atoi(last); err == nil && flagValue(parent, i) {
			return hide(v)
		}
	}
	return maskedInside(v)
}

// maskedInside does the same for everything below a value.
func maskedInside(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for key, item := range v {
			if secretValue(v, key) {
				out[key] = hide(item)
				continue
			}
			out[key] = maskedInside(item)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			if flagValue(v, i) {
				out[i] = hide(item)
				continue
			}
			out[i] = maskedInside(item)
		}
		return out
	case string:
		return MaskText(v)
	}
	return v
}

// MaskText returns a text without the passwords of URLs and the values of flags whose
// names say that they are secret.
func MaskText(text string) string { return redact.Inside(text) }

// SecretFlag reports whether a text is a flag whose value, likely to be secret, is the
// next argument.
func SecretFlag(text string) bool { return secretFlag.MatchString(text) }

// secretValue reports whether key is the value of an env variable with such a
// name.
func secretValue(m map[string]any, key string) bool {
	return key == "value" && redact.Name(text(m, "name"))
}

// flagValue reports whether item i of a command line belongs to the flag before
// it.
func flagValue(list []any, i int) bool {
	if i == 0 || i > len(list) {
		return false
	}
	before, _ := list[i-1].(string)
	return SecretFlag(before)
}

func hide(v any) any {
	if v == nil {
		return nil
	}
	return Masked
}

// Lookup walks down decoded JSON; nil where the path ends early.
func Lookup(v any, path []string) any {
	for _, step := range path {
		switch in := v.(type) {
		case map[string]any:
			v = in[step]
		case []any:
			i, err := strconv.Atoi(step)
			if err != nil || i < 0 || i >= len(in) {
				return nil
			}
			v = in[i]
		default:
			return nil
		}
	}
	return v
}
