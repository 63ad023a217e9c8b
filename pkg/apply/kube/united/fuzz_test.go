package united

import (
	"encoding/json"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/distort"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
)

// FuzzRead: whatever a UnitedDeployment holds, with what a rollout has noted on it, it is read.
func FuzzRead(f *testing.F) {
	texts := []string{
		`{"apiVersion": "apps.kruise.io/v1beta1", "kind": "UnitedDeployment", "metadata": {"name": "web"}, "spec": {"template": {"cloneSetTemplate": {"spec": {"template": {}}}}, "topology": {"subsets": [{"name": "a"}]}, "updateStrategy": {"manualUpdate": {"partitions": {"a": 1}}}}, "status": {"observedGeneration": 2}}`,
		`{"metadata": {"annotations": {"` + kruise.BeforeRolloutAnnotation + `": "{\"template\": {}, \"strategy\": {\"manualUpdate\": {\"partitions\": {\"a\": 1}}}}"}}}`,
	}
	distort.Fuzz(f, texts, func(_ *testing.T, text string) {
		var object map[string]any
		if json.Unmarshal([]byte(text), &object) != nil || object == nil {
			return
		}
		o := Read(&unstructured.Unstructured{Object: object})
		_, _ = PodTemplate(o.Template), o.Paced()
	})
}
