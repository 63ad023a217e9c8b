package united

import (
	"context"
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/dynamic"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
)

// ErrNone says that there is no such UnitedDeployment.
var ErrNone = errors.New("no such UnitedDeployment")

// Get reads a UnitedDeployment in the newest version that is served; the error wraps
// [ErrNone] where it is not there.
func Get(ctx context.Context, c dynamic.Interface, namespace, name string) (*Object, error) {
	for _, version := range []string{kruise.V1beta1, kruise.V1alpha1} {
		u, err := c.Resource(Resource(version)).Namespace(namespace).Get(ctx, name, metav1.GetOptions{})
		switch {
		case err == nil:
			return Read(u), nil
		case !apierrors.IsNotFound(err):
			return nil, fmt.Errorf("cannot read uniteddeployment/%s: %w", name, err)
		}
	}
	return nil, fmt.Errorf("uniteddeployment/%s is not in namespace %s: %w", name, namespace, ErrNone)
}
