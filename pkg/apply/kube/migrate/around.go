package migrate

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/migrate"
)

var (
	scalers  = schema.GroupVersionResource{Group: "autoscaling", Version: "v2", Resource: "horizontalpodautoscalers"}
	budgets  = schema.GroupVersionResource{Group: "policy", Version: "v1", Resource: "poddisruptionbudgets"}
	services = schema.GroupVersionResource{Version: "v1", Resource: "services"}
)

// Around is what refers to the workloads of a migration.
type Around struct {
	// Scalers are HorizontalPodAutoscalers and ScaledObjects of one of them, or held
	// back for one.
	Scalers []Scaler
	// Followers name the source in their targetRef.
	Followers []Follower
	// Budgets are over pods of the source.
	Budgets []migrate.Budget
	// Services select pods of the source; Missed are those that do not select pods of
	// the destination, Uncovered the budgets that do not.
	Services, Missed, Uncovered []string
	// Skipped says what could not be read.
	Skipped []string
}

// Around reads what refers to two workloads, whose pods have these labels.
func (c *Client) Around(ctx context.Context, source, destination migrate.Workload, from, to map[string]string) (*Around, error) {
	a := &Around{}
	if err := c.scalersOf(ctx, a, source, destination); err != nil {
		return nil, err
	}
	if err := c.servicesOf(ctx, a, from, to); err != nil {
		return nil, err
	}
	if err := c.budgetsOver(ctx, a, source, from, to); err != nil {
		return nil, err
	}
	return a, c.followers(ctx, a, source, destination)
}

func (c *Client) scalersOf(ctx context.Context, a *Around, source, destination migrate.Workload) error {
	kinds := []schema.GroupVersionResource{scalers}
	switch gvr, ok, err := c.optional(schema.GroupKind{Group: "keda.sh", Kind: scaledObject}); {
	case err != nil:
		return err
	case ok:
		kinds = append(kinds, gvr)
	}
	for _, gvr := range kinds {
		err := c.each(ctx, a, gvr, func(u *unstructured.Unstructured) {
			if s := scalerOf(u, gvr); s.Of == source || s.Of == destination {
				a.Scalers = append(a.Scalers, s)
			}
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func (c *Client) servicesOf(ctx context.Context, a *Around, from, to map[string]string) error {
	return c.each(ctx, a, services, func(u *unstructured.Unstructured) {
		selector, _, _ := unstructured.NestedStringMap(u.Object, "spec", "selector")
		switch s := labels.SelectorFromSet(selector); {
		case len(selector) == 0 || !s.Matches(labels.Set(from)):
		case s.Matches(labels.Set(to)):
			a.Services = append(a.Services, u.GetName())
		default:
			a.Missed = append(a.Missed, u.GetName())
		}
	})
}

// budgetsOver finds the budgets of both kinds. One of Kruise that names the source is
// followed; it covers no pod of the destination, but its twin does.
func (c *Client) budgetsOver(ctx context.Context, a *Around, source migrate.Workload, from, to map[string]string) error {
	kinds := []schema.GroupVersionResource{budgets}
	switch gvr, ok, err := c.optional(unavailableBudget); {
	case err != nil:
		return err
	case ok:
		kinds = append(kinds, gvr)
	}
	for _, gvr := range kinds {
		err := c.each(ctx, a, gvr, func(u *unstructured.Unstructured) {
			b := budgetFor(u, source, from)
			if b == nil {
				return
			}
			a.Budgets = append(a.Budgets, *b)
			if targetOf(u, "targetRef") != source && budgetFor(u, source, to) == nil {
				a.Uncovered = append(a.Uncovered, b.Name)
			}
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// each hands on the objects of a kind; what may not be read is skipped and said.
func (c *Client) each(ctx context.Context, a *Around, gvr schema.GroupVersionResource, do func(*unstructured.Unstructured)) error {
	list, err := c.of(gvr).List(ctx, metav1.ListOptions{})
	switch {
	case apierrors.IsForbidden(err):
		a.Skipped = append(a.Skipped, fmt.Sprintf("%s are not looked at: %v", gvr.Resource, err))
		return nil
	case err != nil:
		return fmt.Errorf("cannot read %s: %w", gvr.Resource, err)
	}
	for i := range list.Items {
		do(&list.Items[i])
	}
	return nil
}
