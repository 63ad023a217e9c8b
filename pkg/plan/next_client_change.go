package plan

import (
	"encoding/json"
	"strconv"
	"strings"

	appsv1 "k8s.io/api/apps/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
)

// changeOf is the change of template that one pod goes through, from its own
// revision to the present template.
func (c *client) changeOf(p *cluster.Pod) rules.TemplateChange {
	w := c.object()
	change := rules.TemplateChange{New: cluster.Revision{Template: w.Template}, Policy: clientPolicy(c.snap), Gates: c.snap.Gates}
	if _, ok := w.Object.(*appsv1.ReplicaSet); ok {
		change.New.Template = unmarked(w.Template)
		change.Old.Template = c.former(p, change.New.Template)
		return change
	}
	for _, r := range c.snap.Revisions {
		if cluster.Hash(r.Name) == cluster.Hash(rules.RevisionOf(p)) {
			change.Old = r
		}
	}
	return change
}

// clientPolicy is how pods are updated, see [builder.updatePolicy].
func clientPolicy(s *Snapshot) rules.UpdatePolicy {
	if s.Carrier == nil || s.Workload == nil {
		return rules.PolicyInPlaceIfPossible
	}
	return rules.PolicyOf(s.Workload.Object)
}

// former is the template that a pod of a ReplicaSet was made from, as far as anybody
// knows: the one on record, where the pod names it, or the one before the plan's patch.
// It is nil for a pod of any other: what has changed besides its image nobody knows.
func (c *client) former(p *cluster.Pod, template map[string]any) map[string]any {
	mark, change := rules.RevisionOf(p), c.plan.Change
	switch {
	case onRecord(*c.snap, mark):
		return unmarked(c.snap.Base)
	case mark == "" || mark == change.FromHash && mark != change.ToHash:
		return c.replaced(p, template)
	}
	return nil
}

// onRecord reports whether a mark is that of the template on record.
func onRecord(s Snapshot, mark string) bool {
	return s.Base != nil && mark == TemplateHash(unmarked(s.Base))
}

// replaced is the template that a ReplicaSet had before the plan's patch, as far
// as it matters: nobody keeps it, but the patch says where the two differ, and the
// pod which images it has. What the patch has set is missing in it, what the patch
// has removed is there.
func (c *client) replaced(p *cluster.Pod, template map[string]any) map[string]any {
	old := deepCopy(template)
	for _, path := range c.patchedPaths() {
		switch path.op {
		case "remove":
			setPointer(old, path.pointer, "")
		case "add", "replace":
			setPointer(old, path.pointer, nil)
		}
	}
	spec, _ := old["spec"].(map[string]any)
	containers, _ := spec["containers"].([]any)
	for _, item := range containers {
		container, _ := item.(map[string]any)
		name, _ := container["name"].(string)
		if have, ok := p.Container(name); ok && container != nil {
			container["image"] = have.Image
		}
	}
	return old
}

// patchedPath is where a patch changes the template.
type patchedPath struct{ op, pointer string }

const templatePointer = "/spec/template/"

// patchedPaths are where the plan's patch changes the template, but for the images of
// containers, which the pod tells, and the label of the revision.
func (c *client) patchedPaths() []patchedPath {
	var out []patchedPath
	for i := range c.plan.Steps {
		for _, p := range c.plan.Steps[i].Patches {
			ops, _ := p.Body.([]any)
			for _, item := range ops {
				op, _ := item.(map[string]any)
				pointer, _ := op["path"].(string)
				kind, _ := op["op"].(string)
				below, ok := strings.CutPrefix(pointer, templatePointer)
				told := certain(below) && strings.HasPrefix(below, "spec/containers/")
				if ok && !told && !strings.HasSuffix(below, "/labels/"+revisionMark) {
					out = append(out, patchedPath{kind, below})
				}
			}
		}
	}
	return out
}

func deepCopy(v map[string]any) map[string]any {
	text, err := json.Marshal(v)
	if err != nil {
		return nil
	}
	var out map[string]any
	if json.Unmarshal(text, &out) != nil {
		return nil
	}
	return out
}

// setPointer sets the value that a JSON pointer leads to, where its parent is.
func setPointer(doc map[string]any, pointer string, v any) {
	at := strings.LastIndexByte(pointer, '/')
	key := strings.NewReplacer("~1", "/", "~0", "~").Replace(pointer[at+1:])
	parent := any(doc)
	if at > 0 {
		parent = pointed(doc, pointer[:at])
	}
	if m, ok := parent.(map[string]any); ok {
		m[key] = v
		return
	}
	if list, ok := parent.([]any); ok {
		if i, err := strconv.Atoi(key); err == nil && i >= 0 && i < len(list) {
			list[i] = v
		}
	}
}
