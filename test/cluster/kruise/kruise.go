// Package kruise gives a test cluster OpenKruise's API without OpenKruise: the
// CustomResourceDefinitions of all kinds in both versions, made from our own Go
// types and conversion table, and webhooks that convert and fill in defaults with
// the same code that the product uses. Nothing acts on the objects.
package kruise

import (
	"context"
	"fmt"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/client/clientset/clientset"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"

	"github.com/kubectl-kruise/kubectl-kruise/test/cluster"
)

// API is the option that starts a cluster with Kruise's API: every kind can be used,
// and modelled nodes have the daemon side of it. No controller acts on the objects.
//
//	c, namespace := cluster.Shared(t, kruise.API())
func API() cluster.Option {
	return cluster.WithAddOn("kruise", func(ctx context.Context, c *cluster.Cluster) error {
		definitions, err := Definitions()
		if err != nil {
			return err
		}
		if err := install(ctx, c, definitions); err != nil {
			return err
		}
		return c.Nodes.ServeKruise(ctx)
	})
}

// install serves the API and returns when all kinds can be used. The webhooks live as
// long as the context.
func install(ctx context.Context, c *cluster.Cluster, definitions []*apiextensionsv1.CustomResourceDefinition) error {
	hooks, err := serve(ctx, c)
	if err != nil {
		return err
	}
	client, err := clientset.NewForConfig(c.Config())
	if err != nil {
		return err
	}
	crds := client.ApiextensionsV1().CustomResourceDefinitions()
	for _, d := range definitions {
		d = d.DeepCopy()
		if len(d.Spec.Versions) > 1 {
			d.Spec.Conversion = hooks.conversion()
		}
		if _, err := crds.Create(ctx, d, metav1.CreateOptions{}); err != nil {
			return err
		}
	}
	for _, d := range definitions {
		if _, err := cluster.Await(ctx, crds, d.Name, established); err != nil {
			return err
		}
	}
	admin, err := kubernetes.NewForConfig(c.Config())
	if err != nil {
		return err
	}
	_, err = admin.AdmissionregistrationV1().MutatingWebhookConfigurations().
		Create(ctx, hooks.defaulting(definitions), metav1.CreateOptions{})
	if err != nil {
		return fmt.Errorf("webhook of defaults: %w", err)
	}
	return hooks.await(ctx, c)
}

func established(_ watch.EventType, d *apiextensionsv1.CustomResourceDefinition) bool {
	for _, cond := range d.Status.Conditions {
		if cond.Type == apiextensionsv1.Established {
			return cond.Status == apiextensionsv1.ConditionTrue
		}
	}
	return false
}
