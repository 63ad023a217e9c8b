package sidecar

import (
	"slices"
	"strings"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/stage"
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

// template is one pod template of an object.
type template struct {
	path string
	node *tree.Node
}

// templatesOf finds the pod templates of r, those of further kinds by the
// user's --template-paths. A path of the user that leads nowhere is a finding:
// without one, a slip of the pen would leave every sidecar out.
func templatesOf(c *stage.Context, r *resource.Resource) []template {
	kind := r.Group() + "/" + r.Kind()
	paths := templatePaths[kind]
	if further, ok := c.TemplatePaths[kind]; ok {
		paths = append(slices.Clip(paths), further)
	}
	var out []template
	for _, path := range paths {
		n := tree.Get(r.Node(), steps(path)...)
		switch {
		case tree.IsMap(n) && (kind != "/Pod" || isNew(n)):
			out = append(out, template{path: path, node: n})
		case !tree.IsMap(n) && path == c.TemplatePaths[kind]:
			c.Findings.Add("sidecarset/template-path", r, path, "no pod template here: nothing is injected")
		}
	}
	return out
}

// isNew reports whether a pod has yet to be created: only then does the
// webhook look at it (semantics sidecarset 1).
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

// put sets what path leads to in r. The levels on the way are copied: other
// objects may share them.
func put(r *resource.Resource, path string, n *tree.Node) {
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
