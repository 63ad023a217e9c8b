package migrate

import (
	"context"
	"encoding/json"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/migrate"
)

// Scaler is a HorizontalPodAutoscaler, or a ScaledObject of KEDA.
type Scaler struct {
	// Resource is the singular of its kind, in lower case.
	Resource, Name string
	// Of is what it scales, or scaled before it was held back.
	Of   migrate.Workload
	Held bool
	// Controller is what makes the scaler, and would write it anew; "" for nothing.
	Controller string
	gvr        schema.GroupVersionResource
	// paused says that somebody had paused it before.
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

// heldBack is added to the name of what a scaler scales while nobody may: a scaler
// keeps its hands off what it does not find, and off nothing else, since its bounds
// hold whatever its behavior says.
const heldBack = ".migrating"

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

// hold takes a scaler off its workload, which it remembers itself.
func (c *Client) hold(ctx context.Context, s Scaler) error {
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
		patch["spec"] = map[string]any{"scaleTargetRef": map[string]any{"name": s.Of.Name + heldBack}}
		return patch
	})
}

// point has a scaler scale another workload from now on.
func (c *Client) point(ctx context.Context, s Scaler, gvr schema.GroupVersionResource, to migrate.Workload) error {
	if s.ByKEDA() {
		return nil
	}
	return c.scaler(ctx, s, func(now Scaler) map[string]any {
		if !now.Held && now.Of != s.Of {
			return nil // somebody has pointed it elsewhere
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
		u, err := c.of(s.gvr).Get(ctx, s.Name, metav1.GetOptions{})
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
