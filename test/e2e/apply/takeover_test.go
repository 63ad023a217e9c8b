package apply

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// kubectlApply applies a manifest as kubectl does by default, on the client's side.
func (b *bed) kubectlApply(t *testing.T, manifest string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), b.Kubectl(), "apply", "--kubeconfig", b.Kubeconfig(), "-n", b.namespace, "-f", "-")
	cmd.Stdin = strings.NewReader(manifest)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}

func managers(fields []metav1.ManagedFieldsEntry) (out []string) {
	for _, f := range fields {
		if f.Subresource == "" {
			out = append(out, f.Manager)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// TestApply_TakesOverWhatKubectlHasApplied: objects that kubectl apply has written on the client's side
// are taken over once that is confirmed, so that nothing conflicts and what leaves the manifest goes.
func TestApply_TakesOverWhatKubectlHasApplied(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	before := document("apps.kruise.io/v1alpha1", "CloneSet", "1", "minReadySeconds: 3")
	b.kubectlApply(t, before)
	b.kubectlApply(t, settings)
	had := managers(b.cloneSet(t, "web").GetManagedFields())
	if !slices.Contains(had, "kubectl-client-side-apply") {
		t.Fatalf("managers: %q", had)
	}
	after := document("apps.kruise.io/v1alpha1", "CloneSet", "2", "") + strings.Replace(settings, ", size: small", "", 1)

	a := b.apply(t, after)
	a.is(t, 2, "cannot ask whether to take over the fields of 2 objects, which kubectl apply has written on the client's side: ", "kubectl kruise apply -f - --yes")
	a = b.apply(t, after, "--dry-run=server")
	a.is(t, 0, "note: apply takes over the fields of 2 objects")
	if got := managers(b.cloneSet(t, "web").GetManagedFields()); !slices.Equal(got, had) {
		t.Errorf("the fields were taken without a word: %q, was %q", got, had)
	}

	a = b.done(t, after)
	a.is(t, 0, "took over the fields of 2 objects")
	a.has(t, "configmap/settings configured")
	set := b.cloneSet(t, "web")
	spec, _ := set.Object["spec"].(map[string]any)
	if spec["minReadySeconds"] != nil && spec["minReadySeconds"] != int64(0) || b.configMap(t, "settings").Data["size"] != "" {
		t.Errorf("what left the manifests stayed: %v, %v", spec["minReadySeconds"], b.configMap(t, "settings").Data)
	}
	if got := managers(set.GetManagedFields()); slices.Contains(got, "kubectl-client-side-apply") {
		t.Errorf("managers: %q", got)
	}
	if _, has := set.GetAnnotations()["kubectl.kubernetes.io/last-applied-configuration"]; has {
		t.Error("the annotation of kubectl apply stayed, and tells what is not so")
	}
	a = b.apply(t, after)
	a.is(t, 0)
	if strings.Contains(a.err, "take over") || strings.Contains(a.err, "took over") {
		t.Errorf("it was taken over again:\n%s", a.err)
	}

	// A folder, by another way to confirm.
	file := filepath.Join(t.TempDir(), "other.yaml")
	other := strings.Replace(settings, "name: settings", "name: other", 1)
	must(t, os.WriteFile(file, []byte(other), 0o600))
	b.kubectlApply(t, other)
	b.run(t, "", "apply", "-f", file).is(t, 2, "kubectl kruise apply -f "+file+" --yes")
	b.run(t, "", "apply", "-f", file, "--yes", "--force-conflicts").is(t, 0, "took over the fields of 1 object")
}
