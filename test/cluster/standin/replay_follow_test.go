package standin_test

import (
	"context"
	"maps"
	"math"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/tools/cache"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
)

// follower watches the pods of the owner, as those who made the recordings did.
type follower struct {
	stage *stage
	ctx   context.Context

	mu   sync.Mutex
	pods map[types.UID]*corev1.Pod
	// born are the pods in the order of their creation, with their names.
	born []types.NamespacedName
	uids []types.UID
	last time.Time
	// wanted is how many there should be; acts and extremes are of this step.
	wanted   int
	acts     map[string]int
	extremes map[string]int
}

func follow(ctx context.Context, s *stage) (*follower, error) {
	f := &follower{stage: s, ctx: ctx, pods: map[types.UID]*corev1.Pod{}, last: time.Now()}
	factory := informers.NewSharedInformerFactoryWithOptions(s.client, 0, informers.WithNamespace(s.namespace))
	informer := factory.Core().V1().Pods().Informer()
	_, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(o any) { f.see(nil, o) },
		UpdateFunc: func(from, to any) { f.see(from, to) },
		DeleteFunc: func(o any) { f.see(o, nil) },
	})
	factory.Start(ctx.Done())
	informer.HasSynced()
	cache.WaitForCacheSync(ctx.Done(), informer.HasSynced)
	return f, err
}

// begin begins the count of a step.
func (f *follower) begin(wanted int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.wanted, f.acts, f.last = wanted, map[string]int{}, time.Now()
	f.extremes = map[string]int{"maxUnavailable": 0, "minAvailable": math.MaxInt, "minReady": math.MaxInt, "maxTotal": 0}
	f.sample()
}

// see takes one change of one pod in.
func (f *follower) see(from, to any) {
	if gone, ok := from.(cache.DeletedFinalStateUnknown); ok {
		from = gone.Obj
	}
	before, _ := from.(*corev1.Pod)
	after, _ := to.(*corev1.Pod)
	if !f.owns(before) && !f.owns(after) {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.last = time.Now()
	switch {
	case after == nil:
		delete(f.pods, before.UID)
		if before.DeletionTimestamp == nil {
			f.count("delete")
		}
	case before == nil:
		f.pods[after.UID] = after
		f.born = append(f.born, types.NamespacedName{Namespace: after.Namespace, Name: after.Name})
		f.uids = append(f.uids, after.UID)
		f.count("create")
		f.hook(after)
	default:
		f.pods[after.UID] = after
		f.changed(cluster.ReadPod(before), cluster.ReadPod(after))
		if before.Labels[kruise.LifecycleStateLabel] != after.Labels[kruise.LifecycleStateLabel] {
			f.hook(after)
		}
	}
	f.sample()
}

func (f *follower) owns(p *corev1.Pod) bool {
	if p == nil {
		return false
	}
	ref := metav1.GetControllerOf(p)
	return ref != nil && ref.Kind == f.stage.owner.GetKind() && ref.Name == f.stage.owner.GetName()
}

func (f *follower) count(op string) {
	if f.acts != nil {
		f.acts[op]++
	}
}

// changed counts what a controller did to a pod.
func (f *follower) changed(before, after *cluster.Pod) {
	images := false
	for i := range after.Containers {
		images = images || before.Containers[i].Image != after.Containers[i].Image
	}
	hash := before.Annotations[kruise.SidecarSetHashAnnotation]
	switch {
	case hash != "" && hash != after.Annotations[kruise.SidecarSetHashAnnotation]:
		f.count("sidecarUpdate")
	case rules.RevisionOf(before) != rules.RevisionOf(after):
		f.count("inPlaceUpdate")
	case images:
		f.count("applyImages")
	}
	if rules.SpecifiedDelete(after) && !rules.SpecifiedDelete(before) {
		f.count("markDelete")
	}
	if after.Deleting && !before.Deleting {
		f.count("delete")
	}
}

// sample brings the extremes up to date.
func (f *follower) sample() {
	if f.extremes == nil {
		return
	}
	total, available, ready := 0, 0, 0
	for _, p := range f.pods {
		if p.DeletionTimestamp != nil {
			continue
		}
		total++
		if !isReady(p) {
			continue
		}
		ready++
		if state := p.Labels[kruise.LifecycleStateLabel]; state == "" || state == "Normal" {
			available++
		}
	}
	x := f.extremes
	x["maxUnavailable"] = max(x["maxUnavailable"], f.wanted-available)
	x["minAvailable"], x["minReady"] = min(x["minAvailable"], available), min(x["minReady"], ready)
	x["maxTotal"] = max(x["maxTotal"], total)
}

func isReady(p *corev1.Pod) bool {
	for _, c := range p.Status.Conditions {
		if c.Type == corev1.PodReady {
			return c.Status == corev1.ConditionTrue
		}
	}
	return false
}

// hook is the outside actor: a while after a pod has entered a state, it changes
// the pod.
func (f *follower) hook(p *corev1.Pod) {
	for _, h := range f.stage.script.Hooks {
		if h.State != p.Labels[kruise.LifecycleStateLabel] {
			continue
		}
		time.AfterFunc(time.Duration(h.After*float64(time.Second)), func() {
			change := map[string]any{}
			if len(h.Labels) > 0 {
				change["labels"] = h.Labels
			}
			if len(h.AddFinalizers) > 0 {
				change["finalizers"] = h.AddFinalizers
			}
			if len(h.RemoveFinalizers) > 0 {
				change["$deleteFromPrimitiveList/finalizers"] = h.RemoveFinalizers
			}
			text := encode(map[string]any{"metadata": change})
			_, _ = f.stage.client.CoreV1().Pods(p.Namespace).Patch(f.ctx, p.Name, types.StrategicMergePatchType, text, metav1.PatchOptions{})
		})
	}
}

// nth is the name of a pod by its index.
func (f *follower) nth(n int) string {
	f.mu.Lock()
	defer f.mu.Unlock()
	if n > 0 && n <= len(f.born) {
		return f.born[n-1].Name
	}
	for i, uid := range f.uids {
		if f.pods[uid] != nil {
			if n++; n == 0 {
				return f.born[i].Name
			}
		}
	}
	return ""
}

// now are the pods as they are, and for how long nothing has happened to them.
func (f *follower) now() (pods map[types.UID]*corev1.Pod, still time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return maps.Clone(f.pods), time.Since(f.last)
}

// revision is the hash of a pod's revision.
func revision(p *corev1.Pod) string {
	label := p.Labels["controller-revision-hash"]
	return label[strings.LastIndexByte(label, '-')+1:]
}
