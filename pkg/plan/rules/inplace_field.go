package rules

import (
	"slices"
	"strconv"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/mask"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
)

const inPlaceGate = kruise.InPlaceUpdateReady

// fields lists the differences of the templates with what each asks for.
func (c TemplateChange) fields() []FieldChange {
	var out []FieldChange
	old, updated := withMetadata(c.Old.Template), withMetadata(c.New.Template)
	for _, d := range tree.Differences(nil, old, updated) {
		f := FieldChange{Path: PathText(d.Path), Old: mask.Value(d.Path, d.Old, old), New: mask.Value(d.Path, d.New, updated)}
		c.classify(&f, d)
		out = append(out, f)
	}
	return out
}

// withMetadata gives the template empty labels and annotations where it has
// none, so that the first label is a change of that label.
func withMetadata(template map[string]any) map[string]any {
	meta := map[string]any{"labels": map[string]any{}, "annotations": map[string]any{}}
	given, _ := template["metadata"].(map[string]any)
	for k, v := range given {
		if v != nil && k != "creationTimestamp" {
			meta[k] = v
		}
	}
	return map[string]any{"metadata": meta, "spec": template["spec"]}
}

func (c TemplateChange) classify(f *FieldChange, d tree.Difference) {
	switch {
	case d.Path[0] == "metadata":
		c.classifyMetadata(f, d)
	case inContainer(d.Path, "image") && d.Old != nil && d.New != nil:
		f.Effect, f.Why = EffectImage, "the image of a container changes in place"
		f.Restarts = []string{containerName(c.New.Template, d.Path[2])}
	case isResource(d.Path) && d.Old != nil && d.New != nil && c.Gates.InPlaceWorkloadVerticalScaling:
		f.Effect, f.Why = EffectResources, "cpu and memory change in place"
		f.Restarts = c.restartForResize(d.Path)
	default:
		f.Effect, f.Why = EffectRecreate, whyRecreate(d)
	}
}

// classifyMetadata: metadata is merged into the pod, but a container whose env
// reads a key that has a new value restarts. A key that goes away restarts
// nothing.
func (c TemplateChange) classifyMetadata(f *FieldChange, d tree.Difference) {
	f.Effect, f.Why = EffectMetadata, "metadata is merged into the pod"
	if !c.Gates.InPlaceUpdateEnvFromMetadata || d.New == nil || len(d.Path) != 3 {
		return
	}
	f.Restarts = envReaders(c.New.Template, fieldPath(d))
	if len(f.Restarts) > 0 {
		f.Effect, f.Why = EffectEnv, "an env of the container reads this key"
	}
}

// whyRecreate names the limit that a field hits.
func whyRecreate(d tree.Difference) string {
	switch {
	case isResource(d.Path):
		return "resources change in place only with the gate InPlaceWorkloadVerticalScaling, and only cpu and memory that are there already"
	case len(d.Path) > 1 && d.Path[1] == "initContainers":
		return "init containers do not change in place"
	case len(d.Path) == 3 && d.Path[1] == "containers", inContainer(d.Path, "name"):
		return "containers are compared by position: none may be added, removed or moved"
	}
	return "only images of containers, labels and annotations change in place"
}

// inContainer reports whether path is a field of spec.containers[i].
func inContainer(path []string, field string) bool {
	return len(path) == 4 && path[0] == "spec" && path[1] == "containers" && path[3] == field
}

// isResource reports whether path is cpu or memory of a regular container.
func isResource(path []string) bool {
	return len(path) == 6 && path[0] == "spec" && path[1] == "containers" && path[3] == "resources" &&
		(path[4] == "limits" || path[4] == "requests") && (path[5] == "cpu" || path[5] == "memory")
}

func (c TemplateChange) restartForResize(path []string) []string {
	container := containerAt(c.New.Template, path[2])
	for _, item := range items(container, "resizePolicy") {
		if text(item, "resourceName") == path[5] && text(item, "restartPolicy") == "RestartContainer" {
			return []string{text(container, "name")}
		}
	}
	return nil
}

// fieldPath is how an env reads a label or annotation.
func fieldPath(d tree.Difference) string { return "metadata." + d.Path[1] + "['" + d.Path[2] + "']" }

// envReaders returns the regular containers whose env reads a field of the pod.
func envReaders(template map[string]any, fieldPath string) []string {
	var out []string
	for _, container := range containers(template) {
		if slices.ContainsFunc(items(container, "env"), func(env map[string]any) bool {
			from, _ := env["valueFrom"].(map[string]any)
			ref, _ := from["fieldRef"].(map[string]any)
			return text(ref, "fieldPath") == fieldPath
		}) {
			out = append(out, text(container, "name"))
		}
	}
	return out
}

// restarts unites the restarts of all fields, in the order of the spec.
func restarts(fields []FieldChange, template map[string]any) []string {
	var out []string
	for _, container := range containers(template) {
		name := text(container, "name")
		if slices.ContainsFunc(fields, func(f FieldChange) bool { return slices.Contains(f.Restarts, name) }) {
			out = append(out, name)
		}
	}
	return out
}

func containers(template map[string]any) []map[string]any {
	spec, _ := template["spec"].(map[string]any)
	return items(spec, "containers")
}

func containerAt(template map[string]any, index string) map[string]any {
	i, err := strconv.Atoi(index)
	if all := containers(template); err == nil && i < len(all) {
		return all[i]
	}
	return nil
}

func containerName(template map[string]any, index string) string {
	return text(containerAt(template, index), "name")
}

// items returns the maps of a list; anything else in it becomes nil, so that
// positions stay.
func items(m map[string]any, key string) []map[string]any {
	list, _ := m[key].([]any)
	out := make([]map[string]any, len(list))
	for i, v := range list {
		out[i], _ = v.(map[string]any)
	}
	return out
}

func text(m map[string]any, key string) string {
	s, _ := m[key].(string)
	return s
}
