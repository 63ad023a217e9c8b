package simulate

import (
	"encoding/json"
	"fmt"

	"k8s.io/apimachinery/pkg/util/strategicpatch"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// The types of patches, as kubectl patch names them.
const (
	patchMerge     = "merge"
	patchJSON      = "json"
	patchStrategic = "strategic"
)

// hubVersion is the newest version of every Kruise workload.
const hubVersion = "v1beta1"

// MergePatch patches an object in the version in which it was written.
func (w *World) MergePatch(ref cluster.Ref, patch map[string]any) error {
	return w.Patch(ref, plan.Patch{Type: patchMerge, Body: patch})
}

// Patch sends one patch; its own target, if it has one, is not looked at. A
// patch of the subresource scale changes spec.replicas. The error wraps
// [plan.ErrNotFound] or [plan.ErrRefused].
func (w *World) Patch(ref cluster.Ref, p plan.Patch) error {
	o, err := w.lookup(ref)
	if err != nil {
		return err
	}
	doc, err := patched(o, p)
	if err != nil {
		return fmt.Errorf("%s: %w: %w", ref, plan.ErrRefused, err)
	}
	w.rec.writes++
	return w.write(ref, doc)
}

func patched(o *object, p plan.Patch) (*tree.Node, error) {
	doc, err := json.Marshal(tree.Value(o.doc))
	if err != nil {
		return nil, err
	}
	if doc, err = applied(o, p, doc); err != nil {
		return nil, err
	}
	var out map[string]any
	if err := json.Unmarshal(doc, &out); err != nil {
		return nil, err
	}
	return tree.FromValue(out), nil
}

func applied(o *object, p plan.Patch, doc []byte) ([]byte, error) {
	switch p.Type {
	case patchMerge, patchJSON, "":
		return plan.ApplyPatch(doc, &p)
	case patchStrategic:
		if o.workload == nil || o.ref.Group == kruise.Group {
			return nil, fmt.Errorf("a %s takes no strategic merge patch", o.ref.Kind)
		}
		body, err := json.Marshal(p.Body)
		if err != nil {
			return nil, err
		}
		return strategicpatch.StrategicMergePatch(doc, body, o.workload.Object)
	}
	return nil, fmt.Errorf("no patch is of type %s", p.Type)
}

// patchHub sends a merge patch that is written for the newest version.
func (w *World) patchHub(o *object, patch map[string]any) error {
	hub, _, err := kruise.ToHub(o.doc)
	if err != nil {
		return err
	}
	doc, err := patched(&object{ref: o.ref, doc: hub}, plan.Patch{Type: patchMerge, Body: patch})
	if err != nil {
		return err
	}
	if o.ref.Group == kruise.Group {
		if doc, _, err = kruise.FromHub(doc, o.workload.Version); err != nil {
			return err
		}
	}
	return w.write(o.ref, doc)
}

// adopt stores a ReplicaSet that its Deployment has made.
func (w *World) adopt(parent *object, made *cluster.Workload) error {
	doc, err := document(made)
	if err != nil {
		return err
	}
	if w.objects[made.Ref] != nil {
		return fmt.Errorf("%s already exists: %w", made.Ref, plan.ErrConflict)
	}
	o := newObject(made.Ref)
	o.parent = parent
	next := *made
	next.UID, next.Generation = w.id(), 1
	w.objects[o.ref], w.owners[next.UID] = o, o
	parent.children = append(parent.children, o)
	return w.store(o, doc, &next)
}

// document is a workload as a document in the version in which it was written.
func document(read *cluster.Workload) (*tree.Node, error) {
	v, err := tree.Plain(read.Object)
	if err != nil {
		return nil, err
	}
	delete(v, "status")
	v["kind"] = read.Kind
	if read.Group != kruise.Group {
		v["apiVersion"] = read.Group + "/" + read.Version
		return tree.FromValue(v), nil
	}
	v["apiVersion"] = read.Group + "/" + hubVersion
	out, _, err := kruise.FromHub(tree.FromValue(v), read.Version)
	return out, err
}
