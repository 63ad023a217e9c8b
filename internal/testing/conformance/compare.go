package conformance

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
)

// Docs parses all YAML documents of data into plain values, aliases written out.
func Docs(data []byte) ([]map[string]any, error) {
	var out []map[string]any
	d := yaml.NewDecoder(bytes.NewReader(data))
	for {
		var n yaml.Node
		if err := d.Decode(&n); errors.Is(err, io.EOF) {
			return out, nil
		} else if err != nil {
			return nil, err
		}
		if _, err := tree.Expand(&n, 0, tree.Limits{}); err != nil {
			return nil, err
		}
		if m, ok := tree.Value(&n).(map[string]any); ok {
			out = append(out, m)
		}
	}
}

var placeholder = regexp.MustCompile(`<[a-z][a-z0-9-]*>`)

// Diff returns what differs between want and got, "" when nothing does. Text
// in want may hold placeholders in angle brackets, which match any text. The
// order of keys means nothing, the order of lists does.
func Diff(want, got any) string {
	return cmp.Diff(want, got, cmp.FilterValues(func(a, b string) bool {
		return placeholder.MatchString(a) || placeholder.MatchString(b)
	}, cmp.Comparer(matches)))
}

// matches is symmetric, as cmp demands: whichever side has placeholders is the
// pattern.
func matches(a, b string) bool {
	if a == b {
		return true
	}
	return fits(a, b) || fits(b, a)
}

func fits(pattern, text string) bool {
	if !placeholder.MatchString(pattern) {
		return false
	}
	var re strings.Builder
	re.WriteString("(?s)^")
	last := 0
	for _, m := range placeholder.FindAllStringIndex(pattern, -1) {
		re.WriteString(regexp.QuoteMeta(pattern[last:m[0]]))
		re.WriteString(".*?")
		last = m[1]
	}
	re.WriteString(regexp.QuoteMeta(pattern[last:]))
	re.WriteString("$")
	return regexp.MustCompile(re.String()).MatchString(text)
}

// Different turns a diff into an error, nil for an empty one.
func Different(what, diff string) error {
	if diff == "" {
		return nil
	}
	return fmt.Errorf("%s differs (-recorded +ours):\n%s", what, diff)
}
