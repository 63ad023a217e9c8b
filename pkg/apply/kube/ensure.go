package kube

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"
)

// ensure creates an object under a name that says all there is to say about it: one
// that is there already is the same, made before a crash. put shows it at once.
func (c *Cluster) ensure(ctx context.Context, client dynamic.ResourceInterface, u *unstructured.Unstructured, put func(any) error) error {
	got, err := client.Create(ctx, u, metav1.CreateOptions{FieldManager: FieldManager})
	if apierrors.IsAlreadyExists(err) {
		got, err = client.Get(ctx, u.GetName(), metav1.GetOptions{})
	}
	if err != nil {
		return told(u.GetKind()+" "+u.GetName(), err)
	}
	return put(got)
}
