package kubectl_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/kubectl"
)

func TestHint(t *testing.T) {
	const lacks, lists = "this cluster has no Kruise", "'kubectl kruise api-resources'"
	for text, want := range map[string]string{
		`the server doesn't have a resource type "clone"`:                       lacks,
		`the server doesn't have a resource type "SidecarSets"`:                 lacks,
		`the server doesn't have a resource type "clonesets.apps.kruise.io"`:    lacks,
		`no matches for kind "CloneSet" in version "apps.kruise.io/v1beta1"`:    "CloneSet is served as v1beta1 only in what comes after Kruise 1.9: 'kubectl kruise convert -f FILE --to-version v1alpha1' writes it for every release",
		`no matches for kind "SidecarSet" in version "apps.kruise.io/v1beta1"`:  "SidecarSet is served as v1beta1 since Kruise 1.9: ",
		`no matches for kind "StatefulSet" in version "apps.kruise.io/v1beta1"`: lacks,
		`no matches for kind "CloneSet" in version "apps.kruise.io/v1alpha1"`:   lacks,
		`no matches for kind "Gizmo" in version "apps.kruise.io/v1beta1"`:       lists,
		`no matches for kind "CloneSet" in group "apps.kruise.io"`:              lacks,
		`the server has no X: no matches for kind "PodUnavailableBudget" in v1`: lacks,
		`the server doesn't have a resource type "nonsense"`:                    lists,
		`pods "clone" not found`: "",
	} {
		if got := kubectl.Hint(errors.New(text)); !strings.HasPrefix(got, want) || want == "" && got != "" {
			t.Errorf("%s: %q", text, got)
		}
	}
	if kubectl.Hint(nil) != "" {
		t.Error("advice without an error")
	}
}
