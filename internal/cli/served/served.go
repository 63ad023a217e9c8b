// Package served asks a cluster which kinds of Kruise it has.
package served

import (
	"errors"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/discovery"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
)

// Kind is the newest version in which the cluster serves a kind of Kruise's group of
// workloads, by its plural; "" where it has none.
func Kind(d discovery.ServerResourcesInterface, plural string) (version string, err error) {
	for _, version := range []string{kruise.V1beta1, kruise.V1alpha1} {
		list, err := d.ServerResourcesForGroupVersion(kruise.Group + "/" + version)
		if apierrors.IsNotFound(err) {
			continue
		}
		if err != nil {
			return "", errors.Join(errors.New("cannot find out whether the cluster has Kruise"), err)
		}
		if slices.ContainsFunc(list.APIResources, func(r metav1.APIResource) bool { return r.Name == plural }) {
			return version, nil
		}
	}
	return "", nil
}
