package migrate

import (
	"context"
	"encoding/json"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/migrate"
)

// Scaler is a HorizontalPodAutoscaler.
type Scaler struct {
	Name string
	// Of is what it scales, or scaled before it was held back.
	Of   migrate.Workload
	Held bool
	// Controller is what makes the scaler, and would write it anew; "" for nothing.
	Controller string
	object     *unstructured.Unstructured
}

// heldBack is added to the name of what a scaler scales while nobody may: a scaler
// keeps its hands off what it does not find, and off nothing else, since its bounds
// hold whatever its behavior says.
const heldBack = ".migrating"

func scalerOf(u *unstructured.Unstructured) Scaler {
	s := Scaler{Name: u.GetName(), object: u}
	if ref := metav1.GetControllerOfNoCopy(u); ref != nil {
		s.Controller = ref.Kind + "/" + ref.Name
	}
	if text, ok := u.GetAnnotations()[migrate.Annotation]; ok {
		s.Held = json.Unmarshal([]byte(text), &s.Of) == nil
		return s
	}
	target, _, _ := unstructured.NestedStringMap(u.Object, "spec", "scaleTargetRef")
	version, _ := schema.ParseGroupVersion(target["apiVersion"])
	s.Of = migrate.Workload{Group: version.Group, Kind: target["kind"], Name: target["name"]}
	return s
}

// hold takes a scaler off its workload, which it remembers itself.
func (c *Client) hold(ctx context.Context, s Scaler) error {
	of, err := json.Marshal(s.Of)
	if err != nil {
		return err
	}
	return c.scaler(ctx, s, func(now Scaler) map[string]any {
		if now.Held || now.Of != s.Of {
			return nil
		}
		patch := annotated(string(of))
		patch["spec"] = map[string]any{"scaleTargetRef": map[string]any{"name": s.Of.Name + heldBack}}
		return patch
	})
}

// point has a scaler scale another workload from now on.
func (c *Client) point(ctx context.Context, s Scaler, gvr schema.GroupVersionResource, to migrate.Workload) error {
	return c.scaler(ctx, s, func(now Scaler) map[string]any {
		if !now.Held && now.Of != s.Of {
			return nil // somebody has pointed it elsewhere
		}
		patch := annotated(nil)
		patch["spec"] = map[string]any{"scaleTargetRef": map[string]any{"apiVersion": gvr.GroupVersion().String(), "kind": to.Kind, "name": to.Name}}
		return patch
	})
}

// scaler writes to a scaler as it is now; one that is gone is no matter.
func (c *Client) scaler(ctx context.Context, s Scaler, change func(now Scaler) map[string]any) error {
	for {
		u, err := c.of(scalers).Get(ctx, s.Name, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			return nil
		}
		if err != nil {
			return err
		}
		patch := change(scalerOf(u))
		if patch == nil {
			return nil
		}
		if err := c.merge(ctx, scalers, u, patch); !apierrors.IsConflict(err) {
			return err
		}
	}
}
