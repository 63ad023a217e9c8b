package accept

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
)

// dropped are the fields of an object that are not in what the server would store:
// it takes fields of features that are off, and says nothing. Lists are compared
// item by item where they are as long as before.
func dropped(sent, got any, path string) []string {
	switch sent := sent.(type) {
	case map[string]any:
		got, ok := got.(map[string]any)
		if !ok && len(sent) > 0 {
			return []string{path}
		}
		var out []string
		for key, value := range sent {
			if path == "" && (key == "status" || key == "stringData") {
				continue // not for a creation; and kept as data
			}
			if value != nil {
				out = append(out, dropped(value, got[key], path+"."+key)...)
			}
		}
		slices.Sort(out)
		return out
	case []any:
		got, _ := got.([]any)
		if len(got) < len(sent) {
			return []string{path}
		}
		var out []string
		for i := range sent {
			if len(got) == len(sent) {
				out = append(out, dropped(sent[i], got[i], fmt.Sprintf("%s[%d]", path, i))...)
			}
		}
		return out
	}
	if same(sent, got) {
		return nil
	}
	return []string{path}
}

// theirs reports a dropped field that is the user's own: an identity, or what is
// in a native template, which a UnitedDeployment's StatefulSets lose on such a server
// with Kruise, too.
func theirs(object *unstructured.Unstructured, path string) bool {
	return path == ".metadata.uid" || path == ".spec.updateStrategy.rollingUpdate.maxUnavailable" && strings.HasPrefix(object.GetLabels()[kruise.SourceLabel], "uniteddeployment.")
}

// same also compares what the server writes in its own way: quantities, and data
// of Secrets in one line.
func same(sent, got any) bool {
	a, b := fmt.Sprint(sent), fmt.Sprint(got)
	if a == b || strings.Join(strings.Fields(a), "") == b || a == "" && got == nil || a == "false" && got == nil || a == "0" && got == nil {
		return true
	}
	p, err := resource.ParseQuantity(a)
	if err != nil {
		return false
	}
	q, err := resource.ParseQuantity(b)
	return err == nil && p.Cmp(q) == 0
}

func TestDropped_FindsFieldsThatTheServerDrops(t *testing.T) {
	sent := map[string]any{
		"a": "x", "gone": int64(1), "zero": false, "null": nil, "q": "1000m", "status": "x",
		"list": []any{map[string]any{"b": "1", "c": "2"}}, "short": []any{"a", "b"},
	}
	got := map[string]any{"a": "x", "q": "1", "list": []any{map[string]any{"b": "1"}}, "short": []any{"a"}, "more": "y"}
	if diff := cmp.Diff([]string{".gone", ".list[0].c", ".short"}, dropped(sent, got, "")); diff != "" {
		t.Error(diff)
	}
}
