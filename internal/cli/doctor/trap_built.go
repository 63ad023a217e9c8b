package doctor

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/counted"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/load"
)

// functionResidue are annotations by which kustomize knows its own while it builds.
var functionResidue = []string{"internal.config.kubernetes.io/", "kustomize.config.k8s.io/"}

// checkBuilt looks at what `kustomize build` has printed: nothing, references to names that
// are gone, and annotations that should be.
func checkBuilt(text []byte, functions int) ([]verdictLine, error) {
	documents, err := decodeYAML(text)
	if err != nil {
		return nil, fmt.Errorf("what was built: %w", err)
	}
	if len(documents) == 0 {
		return []verdictLine{failedVerdict("output", "a function that prints nothing and ends with 0 deletes every object: run it by hand", "nothing was built")}, nil
	}
	b := builtOutput{names: map[string][]string{}, functions: functions}
	for _, d := range documents {
		o := unstructured.Unstructured{Object: d}
		b.names[o.GetKind()] = append(b.names[o.GetKind()], o.GetName())
	}
	for _, d := range documents {
		b.object = unstructured.Unstructured{Object: d}
		b.left()
		b.walk(d, "")
	}
	if len(b.lines) == 0 {
		b.lines = append(b.lines, passed("output", "%s, and all references resolve", counted.Of(len(documents), "object")))
	}
	return b.lines, nil
}

// builtOutput is an output that is gone through.
type builtOutput struct {
	names map[string][]string
	// functions is how many the kustomization has.
	functions int
	object    unstructured.Unstructured
	lines     []verdictLine
}

// left finds bookkeeping that a function should not have kept or made.
func (b *builtOutput) left() {
	for key := range b.object.GetAnnotations() {
		if slices.ContainsFunc(functionResidue, func(prefix string) bool { return strings.HasPrefix(key, prefix) }) {
			b.lines = append(b.lines, warned("output", "the function that adds the object must not set it", "%s %s keeps the annotation %s", b.object.GetKind(), b.object.GetName(), key))
		}
	}
}

// referenceFields are the fields that name an object.
var referenceFields = map[string]string{
	"configMapRef.name":    "ConfigMap",
	"configMapKeyRef.name": "ConfigMap",
	"configMap.name":       "ConfigMap",
	"secretRef.name":       "Secret",
	"secretKeyRef.name":    "Secret",
	"secret.secretName":    "Secret",
	"secret.name":          "Secret",

	"persistentVolumeClaim.claimName": "PersistentVolumeClaim",
	"service.name":                    "Service",
	"spec.serviceName":                "Service",
}

func (b *builtOutput) walk(v any, above string) {
	switch v := v.(type) {
	case map[string]any:
		b.target(v, above)
		for _, key := range sortedNames(v) {
			if name, ok := v[key].(string); ok && referenceFields[above+"."+key] != "" {
				b.reference(referenceFields[above+"."+key], name)
			}
			b.walk(v[key], key)
		}
	case []any:
		for _, item := range v {
			b.walk(item, above)
		}
	}
}

// target is a reference that says its kind, such as an autoscaler's.
func (b *builtOutput) target(v map[string]any, above string) {
	kind, _ := v["kind"].(string)
	name, _ := v["name"].(string)
	if kind != "" && name != "" && strings.HasSuffix(strings.ToLower(above), "ref") {
		b.reference(kind, name)
	}
}

// reference is dangling where the object is not there under that name, but under the one
// that kustomize gave it. A name that is nowhere may be in the cluster.
func (b *builtOutput) reference(kind, name string) {
	if slices.Contains(b.names[kind], name) {
		return
	}
	renamed := regexp.MustCompile(`^([a-z0-9.-]+-)?` + regexp.QuoteMeta(name) + `(-[a-z0-9.-]+)?(-[a-z0-9]{10})?$`)
	for _, have := range b.names[kind] {
		if renamed.MatchString(have) {
			b.lines = append(b.lines, failedVerdict(
				"references", b.dangling(),
				"%s %s refers to %s %s, which is called %s", b.object.GetKind(), b.object.GetName(), kind, name, have,
			))
			return
		}
	}
}

// dangling is what to do about a reference of the object: a kustomization without functions did not
// follow it, because kustomize does not know the field.
func (b *builtOutput) dangling() string {
	if b.functions > 0 {
		return "a function has to keep kustomize's annotations and to write names as the kustomization that lists it has them"
	}
	if _, ours := kruise.Lookup(b.object.GroupVersionKind().Group, b.object.GetKind()); ours {
		return "kustomize does not know the references of " + b.object.GetKind() + ": '" + load.ComponentCommand + "' writes a component for it; list it under components:"
	}
	return "kustomize does not know the references of " + b.object.GetKind() + ": name the field under nameReference in a file of configurations:"
}

func sortedNames(m map[string]any) []string {
	out := make([]string, 0, len(m))
	for key := range m {
		out = append(out, key)
	}
	slices.Sort(out)
	return out
}
