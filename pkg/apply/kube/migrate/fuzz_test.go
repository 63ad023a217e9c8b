package migrate

import (
	"encoding/json"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/distort"
)

// FuzzHandover: whatever the recorded handover of a DaemonSet holds, it is refused, or names
// the two of its namespace and has a digest.
func FuzzHandover(f *testing.F) {
	const end = "\x1e"
	good := strings.Join([]string{
		`{"from": {"group": "apps", "kind": "DaemonSet", "name": "agent"}, "to": {"group": "apps.kruise.io", "kind": "DaemonSet", "name": "agent"}, "turn": ["u"]}`,
		`{"apiVersion": "apps/v1", "kind": "DaemonSet", "metadata": {"name": "agent", "namespace": "shop"}, "spec": {"template": {}}}`,
		`{"apiVersion": "apps.kruise.io/v1beta1", "kind": "DaemonSet", "metadata": {"name": "agent"}}`,
		`[{"apiVersion": "policy.kruise.io/v1alpha1", "kind": "PodUnavailableBudget", "metadata": {"name": "agent"}}]`,
	}, end)
	distort.Fuzz(f, []string{good, strings.ReplaceAll(good, "agent", "other"), "{}" + end + "null" + end + "[]" + end + "[null]"}, func(t *testing.T, text string) {
		t.Helper()
		part := append(strings.Split(text, end), "", "", "")
		h := &Handover{}
		err := h.read(&unstructured.Unstructured{Object: map[string]any{"data": map[string]any{keyRecord: part[0], keyOld: part[1], keyNew: part[2], keyGuards: part[3]}}})
		if err != nil || h.check("shop", "agent") != nil {
			return
		}
		for _, u := range append(h.Guards, h.Old, h.New) {
			if ns := u.GetNamespace(); ns != "" && ns != "shop" {
				t.Errorf("an object of namespace %q", ns)
			}
		}
		if _, err := json.Marshal(h.New); err != nil || h.Digest("cluster", "shop") == "" {
			t.Error(err)
		}
	})
}
