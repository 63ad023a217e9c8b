package edit

import (
	"encoding/json"
	"fmt"
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

// Change changes an object. It may be called again, upon a fresh copy, where somebody
// else wrote meanwhile.
type Change func(*unstructured.Unstructured) error

// Each finds the objects and changes one after the other. What fails with one does not
// keep the others from being changed; of one that stays as it is nothing is printed.
func (v *Verb) Each(named []string, change Change) error {
	infos, err := v.find(named)
	if err != nil {
		return err
	}
	if (v.Pinned || v.Single) && len(infos) > 1 {
		return command.Usagef("name them one by one", "one object is wanted, and these are %d", len(infos))
	}
	var errs place.Errors
	for _, info := range infos {
		errs.Add(At(info.Object, v.one(info, change)))
	}
	return errs.Err()
}

// At says of an error to which object it belongs.
func At(o runtime.Object, err error) error {
	u, ok := o.(*unstructured.Unstructured)
	if err == nil || !ok {
		return err
	}
	id := place.ID{Group: u.GroupVersionKind().Group, Kind: u.GetKind(), Namespace: u.GetNamespace(), Name: u.GetName()}
	return &place.Error{Object: id, Err: err}
}

func (v *Verb) one(info *resource.Info, change Change) error {
	told := v.Tell == nil
	return retry.OnError(retry.DefaultBackoff, v.again(info), func() error {
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
			if err := v.Tell(before, after); err != nil {
				return err
			}
		}
		got, err := v.write(info, before, after)
		if err != nil {
			return err
		}
		return v.say(info, got)
	})
}

// say prints what was written.
func (v *Verb) say(info *resource.Info, got runtime.Object) error {
	if v.Wrote != nil {
		if err := v.Wrote(info); err != nil {
			return err
		}
	}
	return v.printer.PrintObj(got, v.Factory.Streams.Out)
}

// again reports whether to start over: somebody else wrote what changes since it was
// read, and it could be read anew.
func (v *Verb) again(info *resource.Info) func(error) bool {
	return func(err error) bool { return crossed(err) && !v.Pinned && info.Get() == nil }
}

// crossed recognises a write that came upon another state than the one that was read;
// of a test that did not hold the server says no more than that.
func crossed(err error) bool {
	return apierrors.IsConflict(err) ||
		apierrors.IsInvalid(err) && strings.Contains(err.Error(), "the server rejected our request due to an error in our request")
}

// write sends what differs, upon the very state that was read.
func (v *Verb) write(info *resource.Info, before, after *unstructured.Unstructured) (runtime.Object, error) {
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
