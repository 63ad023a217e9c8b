package standin_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/conformance"
	"github.com/kubectl-kruise/kubectl-kruise/test/cluster"
)

// stage is one recorded case on its way through the cluster.
type stage struct {
	client    kubernetes.Interface
	dynamic   dynamic.Interface
	script    conformance.RolloutScript
	namespace string
	// target is the object under test, owner the workload whose pods it is about.
	target, owner *unstructured.Unstructured
	*follower
}

// replay does one case and returns what differs.
func replay(ctx context.Context, c *cluster.Cluster, recorded conformance.Case) error {
	ctx, cancel := context.WithTimeout(ctx, 2*cluster.Patience)
	defer cancel()
	steps, err := conformance.RolloutSteps(recorded)
	if err != nil {
		return err
	}
	s := &stage{client: c.Client(), namespace: recorded.Namespace()}
	if s.script, err = conformance.ReadRolloutScript(recorded); err != nil {
		return err
	}
	if s.dynamic, err = dynamic.NewForConfig(c.Config()); err != nil {
		return err
	}
	return errors.Join(s.play(ctx, steps), s.leave(context.WithoutCancel(ctx)))
}

// play brings the case up and does its steps.
func (s *stage) play(ctx context.Context, steps []conformance.RolloutStep) error {
	if err := s.bringUp(ctx, steps[0]); err != nil {
		return fmt.Errorf("bringing up: %w", err)
	}
	for i, act := range s.script.Steps {
		if err := s.step(ctx, act, steps[i]); err != nil {
			return fmt.Errorf("step %d (%s):\n%w", i+1, act.Title, err)
		}
	}
	return nil
}

// step does one step and compares.
func (s *stage) step(ctx context.Context, act conformance.RolloutAct, recorded conformance.RolloutStep) error {
	s.begin(wantedIn(recorded))
	answers, err := s.do(ctx, act)
	if err != nil {
		return err
	}
	end := s.wait(ctx, act, recorded)
	return errors.Join(sameAnswers(recorded, answers), end, s.sameExtremes(recorded))
}

// leave takes the case's objects away, so that no controller looks after them any more.
func (s *stage) leave(ctx context.Context) error {
	for _, doc := range s.script.Initial {
		o := &unstructured.Unstructured{Object: doc}
		if o.GetKind() != "SidecarSet" {
			continue
		}
		if err := s.resource(o).Delete(ctx, o.GetName(), metav1.DeleteOptions{}); err != nil && !apierrors.IsNotFound(err) {
			return err
		}
	}
	return s.client.CoreV1().Namespaces().Delete(ctx, s.namespace, metav1.DeleteOptions{})
}

// resource is the client of an object, in the version that it is written in.
func (s *stage) resource(o *unstructured.Unstructured) dynamic.ResourceInterface {
	version, _ := schema.ParseGroupVersion(o.GetAPIVersion())
	client := s.dynamic.Resource(version.WithResource(strings.ToLower(o.GetKind()) + "s"))
	if o.GetKind() == "SidecarSet" {
		return client
	}
	return client.Namespace(s.namespace)
}

// bringUp creates the initial objects. Pods come one after another where a step
// names one, as then it matters who is the oldest.
func (s *stage) bringUp(ctx context.Context, first conformance.RolloutStep) error {
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: s.namespace}}
	if _, err := s.client.CoreV1().Namespaces().Create(ctx, ns, metav1.CreateOptions{}); err != nil {
		return err
	}
	if err := s.account(ctx); err != nil {
		return err
	}
	s.target = &unstructured.Unstructured{Object: s.script.Initial[0]}
	s.owner = s.ownerOfPods()
	var err error
	if s.follower, err = follow(ctx, s); err != nil {
		return err
	}
	replicas := int64(1)
	for _, doc := range s.script.Initial {
		o := (&unstructured.Unstructured{Object: doc}).DeepCopy()
		if o.GetName() == s.owner.GetName() && o.GetKind() == s.owner.GetKind() && s.oneByOne() {
			replicas, _, _ = unstructured.NestedInt64(normal(doc), "spec", "replicas")
			if err := unstructured.SetNestedField(o.Object, int64(1), "spec", "replicas"); err != nil {
				return err
			}
		}
		if err := s.create(ctx, o); err != nil {
			return fmt.Errorf("%s: %w", o.GetKind(), err)
		}
	}
	for n := int64(2); n <= replicas; n++ {
		if err := s.pause(ctx, 1300*time.Millisecond); err != nil {
			return err
		}
		if err := s.patchObject(ctx, s.owner, map[string]any{"spec": map[string]any{"replicas": n}}); err != nil {
			return err
		}
	}
	return s.settle(ctx, func() error { return s.sameState(ctx, first.Before) })
}

// account waits for what pods need in a namespace.
func (s *stage) account(ctx context.Context) error {
	_, err := cluster.Await(ctx, s.client.CoreV1().ServiceAccounts(s.namespace), "default",
		func(watch.EventType, *corev1.ServiceAccount) bool { return true })
	return err
}

// create makes an object; of those that admission looks at it waits until they
// have been seen.
func (s *stage) create(ctx context.Context, o *unstructured.Unstructured) error {
	o.Object = normal(o.Object)
	if _, err := s.resource(o).Create(ctx, o, metav1.CreateOptions{}); err != nil {
		return err
	}
	if o.GetKind() != "SidecarSet" && o.GetKind() != "PodUnavailableBudget" {
		return nil
	}
	_, err := cluster.Await(ctx, s.resource(o), o.GetName(), func(_ watch.EventType, o *unstructured.Unstructured) bool {
		seen, _, _ := unstructured.NestedInt64(o.Object, "status", "observedGeneration")
		return seen == o.GetGeneration()
	})
	return err
}

func (s *stage) patchObject(ctx context.Context, o *unstructured.Unstructured, patch any) error {
	body, err := json.Marshal(patch)
	if err != nil {
		return err
	}
	_, err = s.resource(o).Patch(ctx, o.GetName(), types.MergePatchType, body, metav1.PatchOptions{})
	return err
}

// ownerOfPods is the first workload whose controller makes pods.
func (s *stage) ownerOfPods() *unstructured.Unstructured {
	i := slices.IndexFunc(s.script.Initial, func(d map[string]any) bool {
		return slices.Contains([]any{"CloneSet", "StatefulSet", "DaemonSet"}, d["kind"])
	})
	return &unstructured.Unstructured{Object: s.script.Initial[max(i, 0)]}
}

// oneByOne reports whether it matters which pod is the oldest.
func (s *stage) oneByOne() bool {
	return s.script.Stagger && s.owner.GetKind() != "DaemonSet" && slices.ContainsFunc(s.script.Steps, func(a conformance.RolloutAct) bool {
		return a.Action != "" && a.Action != "labelNodes" || strings.Contains(fmt.Sprint(a.Patch), "$pod(")
	})
}

// normal is an object whose numbers are those of JSON.
func normal(v map[string]any) map[string]any {
	text, _ := json.Marshal(v)
	o := &unstructured.Unstructured{}
	_ = o.UnmarshalJSON(text)
	return o.Object
}

func (s *stage) pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}
