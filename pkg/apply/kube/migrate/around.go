package migrate

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/migrate"
)

var (
	scalers  = schema.GroupVersionResource{Group: "autoscaling", Version: "v2", Resource: "horizontalpodautoscalers"}
	budgets  = schema.GroupVersionResource{Group: "policy", Version: "v1", Resource: "poddisruptionbudgets"}
	services = schema.GroupVersionResource{Version: "v1", Resource: "services"}
)

// Surroundings is what refers to the workloads of a migration.
type Surroundings struct {
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
	// Skipped describes what could not be read.
	Skipped []string
}

// Surroundings reads what refers to two workloads, whose pods have these labels.
func (c *Client) Surroundings(ctx context.Context, source, destination migrate.Workload, from, to map[string]string) (*Surroundings, error) {
	a := &Surroundings{}
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

func (c *Client) scalersOf(ctx context.Context, a *Surroundings, source, destination migrate.Workload) error {
	kinds, err := c.withOptional(scalers, schema.GroupKind{Group: "keda.sh", Kind: scaledObject})
	if err != nil {
		return err
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

func (c *Client) servicesOf(ctx context.Context, a *Surroundings, from, to map[string]string) error {
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
func (c *Client) budgetsOver(ctx context.Context, a *Surroundings, source migrate.Workload, from, to map[string]string) error {
	kinds, err := c.withOptional(budgets, unavailableBudget)
	if err != nil {
		return err
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

// withOptional are a resource and, where it is served, that of another kind.
func (c *Client) withOptional(always schema.GroupVersionResource, kind schema.GroupKind) ([]schema.GroupVersionResource, error) {
	gvr, ok, err := c.optional(kind)
	if err != nil || !ok {
		return []schema.GroupVersionResource{always}, err
	}
	return []schema.GroupVersionResource{always, gvr}, nil
}

// each hands on the objects of a kind; what may not be read is skipped and reported.
func (c *Client) each(ctx context.Context, a *Surroundings, gvr schema.GroupVersionResource, do func(*unstructured.Unstructured)) error {
	list, err := c.resource(gvr).List(ctx, metav1.ListOptions{})
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

// Scaler is a HorizontalPodAutoscaler, or a ScaledObject of KEDA.
type Scaler struct {
	// Resource is the singular of its kind, in lower case.
	Resource, Name string
	// Of is what it scales, or scaled before it was held back.
	Of   migrate.Workload
	Held bool
	// Controller is what creates the scaler, and would write it again; "" for nothing.
	Controller string
	gvr        schema.GroupVersionResource
	// paused indicates that a user had paused it before.
	paused bool
}

// kedaPause has KEDA take its HorizontalPodAutoscaler away, and scale nothing.
const kedaPause = "autoscaling.keda.sh/paused"

// scaledObject is KEDA's kind.
const scaledObject = "ScaledObject"

// note is what a scaler that is held back remembers.
type note struct {
	migrate.Workload
	Paused bool `json:"paused,omitempty"`
}

// suspendedSuffix is added to the name of what a scaler scales to suspend it: a scaler
// leaves alone what it does not find, and nothing else, since its bounds
// hold whatever its behavior says.
const suspendedSuffix = ".migrating"

func scalerOf(u *unstructured.Unstructured, gvr schema.GroupVersionResource) Scaler {
	s := Scaler{Resource: strings.ToLower(u.GetKind()), Name: u.GetName(), gvr: gvr}
	_, s.paused = u.GetAnnotations()[kedaPause]
	if ref := metav1.GetControllerOfNoCopy(u); ref != nil {
		s.Controller = ref.Kind + "/" + ref.Name
	}
	if text, ok := u.GetAnnotations()[migrate.Annotation]; ok {
		var n note
		s.Held = json.Unmarshal([]byte(text), &n) == nil
		s.Of, s.paused = n.Workload, n.Paused
		return s
	}
	s.Of = targetOf(u, "scaleTargetRef")
	if s.keda() && s.Of.Kind == "" {
		s.Of.Group, s.Of.Kind = "apps", kruise.KindDeployment // KEDA's default
	}
	return s
}

func (s Scaler) keda() bool { return s.gvr.Group == "keda.sh" }

// ByKEDA reports whether a ScaledObject made the scaler: pausing that takes it away.
func (s Scaler) ByKEDA() bool { return strings.HasPrefix(s.Controller, scaledObject+"/") }

// String is how messages name a scaler.
func (s Scaler) String() string { return s.Resource + "/" + s.Name }

// suspendScaler takes a scaler off its workload, which it remembers itself.
func (c *Client) suspendScaler(ctx context.Context, s Scaler) error {
	if s.ByKEDA() {
		return nil
	}
	return c.scaler(ctx, s, func(now Scaler) map[string]any {
		if now.Held || now.Of != s.Of {
			return nil
		}
		of, _ := json.Marshal(note{s.Of, now.paused}) // strings alone
		if s.keda() {
			return annotations(map[string]any{migrate.Annotation: string(of), kedaPause: "true"})
		}
		patch := annotated(string(of))
		patch["spec"] = map[string]any{"scaleTargetRef": map[string]any{"name": s.Of.Name + suspendedSuffix}}
		return patch
	})
}

// pointScaler has a scaler scale another workload from now on.
func (c *Client) pointScaler(ctx context.Context, s Scaler, gvr schema.GroupVersionResource, to migrate.Workload) error {
	if s.ByKEDA() {
		return nil
	}
	return c.scaler(ctx, s, func(now Scaler) map[string]any {
		if !now.Held && now.Of != s.Of {
			return nil // another user has pointed it elsewhere
		}
		patch := annotated(nil)
		if s.keda() && now.Held && !now.paused {
			patch = annotations(map[string]any{migrate.Annotation: nil, kedaPause: nil})
		}
		patch["spec"] = map[string]any{"scaleTargetRef": reference(gvr, to)}
		return patch
	})
}

// scaler writes to a scaler as it is now; one that is gone is no matter.
func (c *Client) scaler(ctx context.Context, s Scaler, change func(now Scaler) map[string]any) error {
	for {
		u, err := c.resource(s.gvr).Get(ctx, s.Name, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			return nil
		}
		if err != nil {
			return err
		}
		patch := change(scalerOf(u, s.gvr))
		if patch == nil {
			return nil
		}
		if err := c.merge(ctx, s.gvr, u, patch); !apierrors.IsConflict(err) {
			return err
		}
	}
}

var unavailableBudget = schema.GroupKind{Group: "policy.kruise.io", Kind: kruise.KindPodUnavailableBudget}

// budgetFor reads a budget of either kind that is over pods with these labels of a
// workload; nil for another. The specs of both kinds have the same limits, and a
// status counts the same under other names (docs/kruise/protection.md#podunavailablebudget).
func budgetFor(u *unstructured.Unstructured, of migrate.Workload, pods map[string]string) *migrate.Budget {
	var b policyv1.PodDisruptionBudget
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, &b); err != nil {
		return nil
	}
	selector, err := metav1.LabelSelectorAsSelector(b.Spec.Selector)
	if err != nil || targetOf(u, "targetRef") != of && !selector.Matches(labels.Set(pods)) {
		return nil
	}
	out := &migrate.Budget{
		Name: strings.ToLower(u.GetKind()) + "/" + b.Name, Spec: b.Spec, Expected: b.Status.ExpectedPods, Healthy: b.Status.CurrentHealthy,
		Stale: b.Status.ObservedGeneration < b.Generation,
	}
	if u.GetKind() == unavailableBudget.Kind {
		number := func(field string) int32 {
			n, _, _ := unstructured.NestedInt64(u.Object, "status", field)
			return int32(n)
		}
		out.Expected, out.Healthy = number("totalReplicas"), number("currentAvailable")
	}
	return out
}
