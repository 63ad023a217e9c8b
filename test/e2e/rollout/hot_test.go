package rollout

import (
	"context"
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/event"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
)

const idle = "registry.example.com/mesh:empty"

// withMesh has the pods of a workload carry a sidecar of HotUpgrade, as rendering makes
// it: two containers, of which the first works.
func withMesh(w workload) workload {
	w.text = strings.NewReplacer(
		"metadata: {labels: {app: web}}", `metadata:
      labels: {app: web}
      annotations:
        kruise.io/sidecarset-working-hotupgrade-container: '{"mesh":"mesh-1"}'
        version.sidecarset.kruise.io/mesh-1: "1"
        versionalt.sidecarset.kruise.io/mesh-1: "0"
        version.sidecarset.kruise.io/mesh-2: "0"
        versionalt.sidecarset.kruise.io/mesh-2: "1"`,
		`image: "`+web1+`"}]`, `image: "`+web1+`"}, {name: mesh-1, image: registry.example.com/mesh:1}, {name: mesh-2, image: "`+idle+`"}]`,
	).Replace(w.text)
	return w
}

// meshAt describes what works where in a pod: "mesh-2 mesh:2, mesh-1 mesh:empty, 0/2".
func meshAt(p *corev1.Pod) string {
	image := map[string]string{}
	for _, c := range p.Spec.Containers {
		image[c.Name] = c.Image[strings.LastIndexByte(c.Image, '/')+1:]
	}
	note := func(name string) string { return p.Annotations["version.sidecarset.kruise.io/"+name] }
	return fmt.Sprintf("%s: %s, %s; %s/%s", p.Annotations["kruise.io/sidecarset-working-hotupgrade-container"], image["mesh-1"], image["mesh-2"], note("mesh-1"), note("mesh-2"))
}

// works reports whether a sidecar of the pod is at work.
func works(p *corev1.Pod) bool {
	for _, c := range p.Status.ContainerStatuses {
		if strings.HasPrefix(c.Name, "mesh-") && c.Ready && c.State.Running != nil && !strings.HasSuffix(c.Image, "mesh:empty") {
			return true
		}
	}
	return false
}

// TestHotUpgrade_KeepsAWorkingSidecar: the client starts a new sidecar beside the old one, and empties that
// when the new one works, there and back; at no moment is a pod without one, none is made
// again, the application is not touched, and no more pods are down than a budget lets go.
func TestHotUpgrade_KeepsAWorkingSidecar(t *testing.T) {
	for kind, w := range map[string]workload{
		"ReplicaSet":           standIn(allAtOnce),
		"StatefulSet OnDelete": nativeKind("StatefulSet", "statefulsets", "serviceName: web\n  podManagementPolicy: Parallel\n  updateStrategy: {type: OnDelete}"),
	} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			c, namespace := withoutKruise(t)
			b := bedIn(t, c, namespace, withMesh(w))
			k, build := b.open, b.plan
			if kind == "ReplicaSet" {
				b.Apply(t, namespace, renderedFrom(targetWeb))
				k, build = b.carried, b.carriedPlan
			}
			born := restarts(b.pods(t))
			driven := k(t)
			worked := map[types.UID]bool{}
			over := following(t, c, namespace, func(_ context.Context, p *corev1.Pod) error {
				if now := works(p); worked[p.UID] && !now {
					t.Errorf("pod %s has no sidecar at work: %s", p.Name, meshAt(p))
				} else {
					worked[p.UID] = now
				}
				return nil
			})
			most := b.most(t)
			for _, to := range []struct{ image, want string }{
				{"mesh:2", `{"mesh":"mesh-2"}: mesh:empty, mesh:2; 0/2`},
				{"mesh:3", `{"mesh":"mesh-1"}: mesh:3, mesh:empty; 3/0`},
			} {
				b.next = strings.ReplaceAll(b.text, "mesh:1", to.image)
				p := build(t, driven, plan.Policy{Driver: plan.DriverClient, Pull: plan.PullNever, Steps: steps(t, "1", "100%")})
				if res := b.run(t.Context(), t, driven, p, apply.Options{}); res.Outcome != event.Completed {
					t.Fatalf("%s: %s", res.Outcome, res.Reason)
				}
				for _, p := range b.pods(t) {
					if got := meshAt(&p); got != to.want || !ready(&p, web1) {
						t.Errorf("pod %s: %s, want %s", p.Name, got, to.want)
					}
				}
			}
			over()
			if n := most(); n != 1 {
				t.Errorf("%d pods were down at once, 1 may be", n)
			}
			for uid, n := range restarts(b.pods(t)) {
				if was, there := born[uid]; !there || n != was {
					t.Errorf("pod %s is another, or its application has restarted %d times", uid, n)
				}
			}
		})
	}
}
