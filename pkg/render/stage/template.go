package stage

import (
	"slices"
	"strings"

	"sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// templatePaths lead to the pod templates of each kind, by GROUP/KIND. ""
// means that the object is itself a pod.
var templatePaths = map[string][]string{
	"/Pod":                   {""},
	"/PodTemplate":           {"template"},
	"/ReplicationController": {"spec.template"},
	"apps/Deployment":        {"spec.template"},
	"apps/StatefulSet":       {"spec.template"},
	"apps/DaemonSet":         {"spec.template"},
	"apps/ReplicaSet":        {"spec.template"},
	"batch/Job":              {"spec.template"},
	"batch/CronJob":          {"spec.jobTemplate.spec.template"},

	"apps.kruise.io/CloneSet":     {"spec.template"},
	"apps.kruise.io/StatefulSet":  {"spec.template"},
	"apps.kruise.io/DaemonSet":    {"spec.template"},
	"apps.kruise.io/BroadcastJob": {"spec.template"},
	"apps.kruise.io/AdvancedCronJob": {
		"spec.template.jobTemplate.spec.template",
		"spec.template.broadcastJobTemplate.spec.template",
	},
	"apps.kruise.io/UnitedDeployment": {
		"spec.template.statefulSetTemplate.spec.template",
		"spec.template.advancedStatefulSetTemplate.spec.template",
		"spec.template.cloneSetTemplate.spec.template",
		"spec.template.deploymentTemplate.spec.template",
	},
}

// TemplatePaths returns the dotted paths to the pod templates of a kind.
func TemplatePaths(group, kind string) []string {
	return slices.Clone(templatePaths[group+"/"+kind])
}

// Template is one pod template of an object.
type Template struct {
	// Path is dotted; it is empty where the object is a pod.
	Path string
	Node *tree.Node
}

// Templates finds the pod templates of r, those of further kinds by the user's
// template paths. astray is a path of the user that leads nowhere, else empty.
func (c *Context) Templates(r *resource.Resource) (list []Template, astray string) {
	kind := r.Group() + "/" + r.Kind()
	paths := templatePaths[kind]
	if further, ok := c.TemplatePaths[kind]; ok {
		paths = append(slices.Clip(paths), further)
	}
	for _, path := range paths {
		n := tree.Get(r.Node(), steps(path)...)
		switch {
		case tree.IsMap(n) && (kind != "/Pod" || isNew(n)):
			list = append(list, Template{Path: path, Node: n})
		case !tree.IsMap(n) && path == c.TemplatePaths[kind]:
			astray = path
		}
	}
	return list, astray
}

// isNew reports whether a pod has yet to be created: only then does the
// webhook look at it (docs/kruise/sidecarset.md#which-pods-match).
func isNew(pod *tree.Node) bool {
	phase := tree.StrAt(pod, "status", "phase")
	return tree.StrAt(pod, "metadata", "uid") == "" &&
		tree.Get(pod, "metadata", "deletionTimestamp") == nil &&
		phase != "Succeeded" && phase != "Failed"
}

// steps takes a dot at the start, as in kubectl's JSONPath, for no more than
// decoration.
func steps(path string) []string {
	if path == "" {
		return nil
	}
	return strings.Split(strings.TrimPrefix(path, "."), ".")
}

// Put sets the template in r that path leads to. The levels on the way are
// copied: other objects may share them.
func Put(r *resource.Resource, path string, n *tree.Node) {
	at := inBlock(r.Edit())
	keys := steps(path)
	if len(keys) == 0 {
		*at = *n
		return
	}
	for _, key := range keys[:len(keys)-1] {
		next := inBlock(tree.Shallow(tree.Get(at, key)))
		tree.Set(at, key, next)
		at = next
	}
	tree.Set(at, keys[len(keys)-1], n)
}

// inBlock removes the flow style from a level that is written again.
func inBlock(n *tree.Node) *tree.Node {
	n.Style &^= yaml.FlowStyle
	return n
}
