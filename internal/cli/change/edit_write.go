package change

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/cli-runtime/pkg/resource"
	"k8s.io/client-go/util/retry"
	cmdutil "k8s.io/kubectl/pkg/cmd/util"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/command"
	place "github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// changeFunc changes an object. It may be called again, on a fresh copy, when another client
// wrote in the meantime.
type changeFunc func(*unstructured.Unstructured) error

// Each finds the objects and changes one after the other. What fails with one does not
// keep the others from being changed; of one that stays as it is nothing is printed.
func (v *edit) Each(named []string, change changeFunc) error {
	infos, err := v.find(named)
	if err != nil {
		return err
	}
	if (v.Pinned || v.Single) && len(infos) > 1 {
		return command.Usagef("name them one by one", "expected one object, got %d", len(infos))
	}
	var errs place.Errors
	for _, info := range infos {
		errs.Add(errorWithObject(info.Object, v.editObject(info, change)))
	}
	return errs.Err()
}

// errorWithObject adds the object to an error that is about it.
func errorWithObject(o runtime.Object, err error) error {
	u, ok := o.(*unstructured.Unstructured)
	if err == nil || !ok {
		return err
	}
	id := place.ID{Group: u.GroupVersionKind().Group, Kind: u.GetKind(), Namespace: u.GetNamespace(), Name: u.GetName()}
	return &place.Error{Object: id, Err: err}
}

func (v *edit) editObject(info *resource.Info, change changeFunc) error {
	told := v.Explainer == nil
	// Another writer may have changed the object since it was read: it starts over if it could be read again.
	retriable := func(err error) bool { return isConflict(err) && !v.Pinned && info.Get() == nil }
	return retry.OnError(retry.DefaultBackoff, retriable, func() error {
		before, ok := info.Object.(*unstructured.Unstructured)
		if !ok {
			return fmt.Errorf("unexpected %T", info.Object)
		}
		after := before.DeepCopy()
		if err := change(after); err != nil {
			return err
		}
		if equality.Semantic.DeepEqual(before.Object, after.Object) {
			return nil
		}
		if err := v.recorder.Record(after); err != nil {
			return err
		}
		if !told {
			told = true
			if err := v.Explainer.explainWritten(before, after); err != nil {
				return err
			}
		}
		got, err := v.write(info, before, after)
		if err != nil {
			return err
		}
		return v.printObject(info, got)
	})
}

// printObject prints what was written.
func (v *edit) printObject(info *resource.Info, got runtime.Object) error {
	if v.Notes != nil {
		if err := v.Notes.wrote(info); err != nil {
			return err
		}
	}
	return v.printer.PrintObj(got, v.Factory.Streams.Out)
}

// isConflict recognises a write that came upon another state than the one that was read;
// of a test that did not hold the server says no more than that.
func isConflict(err error) bool {
	return apierrors.IsConflict(err) ||
		apierrors.IsInvalid(err) && strings.Contains(err.Error(), "the server rejected our request due to an error in our request")
}

// write sends what differs, upon the very state that was read.
func (v *edit) write(info *resource.Info, before, after *unstructured.Unstructured) (runtime.Object, error) {
	if v.local || v.dryRun == cmdutil.DryRunClient {
		return after, nil
	}
	patch, err := json.Marshal(v.difference(before, after))
	if err != nil {
		return nil, err
	}
	return resource.NewHelper(info.Client, info.Mapping).DryRun(v.dryRun == cmdutil.DryRunServer).WithFieldManager(v.manager).
		Patch(info.Namespace, info.Name, types.JSONPatchType, patch, nil)
}

// patchOperation is one of a JSON patch.
type patchOperation struct {
	Op    string `json:"op"`
	Path  string `json:"path"`
	Value any    `json:"value"`
}

// difference is a JSON patch of the fields that differ, each after a test that it is
// as it was read. Others may write the rest of the object at the same time: its status
// changes all the time while pods come and go.
func (v *edit) difference(before, after *unstructured.Unstructured) []patchOperation {
	old, updated := before.DeepCopy(), after.DeepCopy()
	old.SetResourceVersion("")
	updated.SetResourceVersion("")
	ops := []patchOperation{{"test", "/metadata/uid", string(before.GetUID())}}
	if v.Pinned {
		ops = append(ops, patchOperation{"add", "/metadata/resourceVersion", after.GetResourceVersion()})
	}
	return append(ops, fieldOperations("", old.Object, updated.Object)...)
}

// fieldOperations are the operations for two states of a map. A list is changed as a whole.
func fieldOperations(at string, old, updated map[string]any) []patchOperation {
	keys := maps.Clone(old)
	maps.Copy(keys, updated)
	var out []patchOperation
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		path := at + "/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(key)
		a, b := old[key], updated[key]
		below, isMap := a.(map[string]any)
		within, wasMap := b.(map[string]any)
		switch {
		case reflect.DeepEqual(a, b):
		case isMap && wasMap:
			out = append(out, fieldOperations(path, below, within)...)
		case b == nil:
			out = append(out, patchOperation{"test", path, a}, patchOperation{Op: "remove", Path: path})
		default:
			// A test for null holds where the field is missing.
			out = append(out, patchOperation{"test", path, a}, patchOperation{"add", path, b})
		}
	}
	return out
}
