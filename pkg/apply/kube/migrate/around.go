package migrate

import (
	"context"
	"fmt"

	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
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
	// Scalers are HorizontalPodAutoscalers of one of them, or held back for one.
	Scalers []Scaler
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
	err := c.each(ctx, a, scalers, func(u *unstructured.Unstructured) {
		if s := scalerOf(u); s.Of == source || s.Of == destination {
			a.Scalers = append(a.Scalers, s)
		}
	})
	if err != nil {
		return nil, err
	}
	err = c.each(ctx, a, services, func(u *unstructured.Unstructured) {
		selector, _, _ := unstructured.NestedStringMap(u.Object, "spec", "selector")
		switch s := labels.SelectorFromSet(selector); {
		case len(selector) == 0 || !s.Matches(labels.Set(from)):
		case s.Matches(labels.Set(to)):
			a.Services = append(a.Services, u.GetName())
		default:
			a.Missed = append(a.Missed, u.GetName())
		}
	})
	if err != nil {
		return nil, err
	}
	return a, c.each(ctx, a, budgets, func(u *unstructured.Unstructured) {
		b, selector := budgetOf(u)
		if b == nil || !selector.Matches(labels.Set(from)) {
			return
		}
		a.Budgets = append(a.Budgets, *b)
		if !selector.Matches(labels.Set(to)) {
			a.Uncovered = append(a.Uncovered, b.Name)
		}
	})
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

// budgetOf reads a budget, nil where that cannot be done.
func budgetOf(u *unstructured.Unstructured) (*migrate.Budget, labels.Selector) {
	var b policyv1.PodDisruptionBudget
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, &b); err != nil {
		return nil, nil
	}
	selector, err := metav1.LabelSelectorAsSelector(b.Spec.Selector)
	if err != nil {
		return nil, nil
	}
	return &migrate.Budget{
		Name: b.Name, Spec: b.Spec, Expected: b.Status.ExpectedPods, Healthy: b.Status.CurrentHealthy,
		Stale: b.Status.ObservedGeneration < b.Generation,
	}, selector
}
