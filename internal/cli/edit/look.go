package edit

import (
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/cli-runtime/pkg/resource"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/kubectl"
	place "github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// Look calls a function with a copy of each object that the flags and the arguments
// mean. Nothing is written.
func (v *Verb) Look(named []string, each func(*unstructured.Unstructured) error) error {
	infos, err := v.find(named)
	if err != nil {
		return err
	}
	return visit(infos, each)
}

// Beside calls a function with one object that is not among those to be changed.
func (v *Verb) Beside(named string, each func(*unstructured.Unstructured) error) error {
	b, _, err := v.builder()
	if err != nil {
		return err
	}
	infos, err := b.ResourceTypeOrNameArgs(false, named).Flatten().Latest().Do().Infos()
	if err != nil {
		return kubectl.Err(err)
	}
	return visit(infos, each)
}

func visit(infos []*resource.Info, each func(*unstructured.Unstructured) error) error {
	var errs place.Errors
	for _, info := range infos {
		u, ok := info.Object.(*unstructured.Unstructured)
		if !ok {
			return fmt.Errorf("unexpected %T", info.Object)
		}
		errs.Add(At(u, each(u.DeepCopy())))
	}
	return errs.Err()
}
