package rollout

import (
	"context"
	"flag"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/event"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/kube"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

var soak = flag.Duration("soak", 10*time.Second, "how long TestSoak_ManyRolloutsInOneProcess runs")

// soaked are what TestSoak_ManyRolloutsInOneProcess rolls out, each twice.
var soaked = []string{"CloneSet", "Advanced StatefulSet", "ReplicaSet", "StatefulSet OnDelete"}

// fewestRounds has one of each sort, the first of which fills caches and pools.
const fewestRounds = 4

// TestSoak_ManyRolloutsInOneProcess: rollouts by Kruise and by the client complete, wait, are promoted, aborted,
// taken back and followed by restarts, all at once and again and again, in one process
// that also looks at all of them as the terminal interface does. Nothing that it holds
// grows (make soak-cluster).
func TestSoak_ManyRolloutsInOneProcess(t *testing.T) {
	var beds []*soakBed
	for _, name := range slices.Concat(soaked, soaked) {
		beds = append(beds, &soakBed{newBed(t, kinds[name].workload), name})
	}
	looking(t, beds[0].bed)
	var sizes []size
	begun := time.Now()
	for round := 0; round < fewestRounds || time.Since(begun) < *soak; round++ {
		t.Run("round", func(t *testing.T) {
			for _, b := range beds {
				t.Run(b.name, func(t *testing.T) {
					t.Parallel()
					b.round(t, round)
				})
			}
		})
		if t.Failed() {
			return
		}
		sizes = append(sizes, measured(t, beds[0].Cluster))
		t.Logf("round %d of %d workloads, after %s: %s", round, len(beds), time.Since(begun).Round(time.Second), sizes[round])
	}
	flat(t, sizes[1:])
}

// looking looks at the whole cluster whenever something changes, until the test ends.
func looking(t *testing.T, b *bed) {
	t.Helper()
	f, err := kube.WatchNamespace(t.Context(), b.Config(), kube.NamespaceWatchOptions{Gates: cluster.DefaultGates(), StateNamespace: "kubectl-kruise"})
	must(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	over := make(chan struct{})
	t.Cleanup(func() { cancel(); <-over; f.Close() })
	go func() {
		defer close(over)
		for ctx.Err() == nil {
			version := f.Version()
			f.Look()
			_ = f.Await(ctx, version, time.Time{})
		}
	}()
}

// soakBed is a workload that is rolled out to and fro.
type soakBed struct {
	*bed

	name string
}

// round does what is next.
func (b *soakBed) round(t *testing.T, n int) {
	t.Helper()
	k := b.open(t)
	held, release, err := k.Hold(t.Context(), nil)
	must(t, err)
	defer release()
	switch n % 4 {
	case 0:
		b.ends(held, t, k, b.planned(t, k, nil), event.Completed)
		b.turn()
	case 1:
		b.ends(held, t, k, b.planned(t, k, &plan.Pause{}), event.AtPause)
		b.ends(held, t, k, b.back(t, k), event.RolledBack)
	case 2:
		b.ends(held, t, k, b.restartPlan(t, k, plan.RestartRequest{}), event.Completed)
		b.forget(t)
	case 3:
		p := b.planned(t, k, &plan.Pause{})
		b.ends(held, t, k, p, event.AtPause)
		promote(t, b.bed)
		b.ends(held, t, k, p, event.Completed)
		b.turn()
	}
}

// planned is a plan for the other image.
func (b *soakBed) planned(t *testing.T, k *kube.Cluster, pause *plan.Pause) plan.Plan {
	t.Helper()
	policy := plan.Policy{Driver: kinds[b.name].driver, Steps: steps(t, "1", "100%"), Pull: plan.PullNever}
	policy.Steps[0].Pause = pause
	return b.plan(t, k, policy)
}

// turn makes the next rollout lead to the image before.
func (b *soakBed) turn() {
	if strings.Contains(b.next, web2) {
		b.next = strings.ReplaceAll(b.next, web2, web1)
	} else {
		b.next = strings.ReplaceAll(b.next, web1, web2)
	}
}

// ends carries a plan out to an end.
func (b *soakBed) ends(ctx context.Context, t *testing.T, k *kube.Cluster, p plan.Plan, want event.Outcome) {
	t.Helper()
	res, err := apply.Run(ctx, k, b.object.Ref, p, apply.Options{AtPause: want == event.AtPause, Emit: k.Announce})
	must(t, err)
	if res.Outcome != want {
		t.Fatalf("%s: %s, want %s", res.Outcome, res.Reason, want)
	}
}

// forget takes away what asks for restarts, which otherwise stays for a day.
func (b *soakBed) forget(t *testing.T) {
	t.Helper()
	client, err := dynamic.NewForConfig(b.Config())
	must(t, err)
	requests := schema.GroupVersionResource{Group: kruiseGroup, Version: "v1alpha1", Resource: "containerrecreaterequests"}
	must(t, client.Resource(requests).Namespace(b.namespace).DeleteCollection(t.Context(), metav1.DeleteOptions{}, metav1.ListOptions{}))
}

// back aborts the rollout, and makes the plan of the way back.
func (b *soakBed) back(t *testing.T, k *kube.Cluster) plan.Plan {
	t.Helper()
	const why = "aborted by the test"
	rec, err := kube.Records{Client: b.Client()}.Change(t.Context(), b.object.Ref, "test", func(r *plan.Record) error {
		r.Progress.Failed = why
		return nil
	})
	must(t, err)
	s, err := k.Observe(t.Context(), b.object.Ref)
	must(t, err)
	p, err := plan.Rollback(rec.Plan, s, why)
	must(t, err)
	must(t, k.Begin(t.Context(), b.object.Ref, p))
	return p
}
