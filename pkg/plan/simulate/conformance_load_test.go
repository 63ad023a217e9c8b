package simulate

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/conformance"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/controller"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
)

// loadBed puts the state before a step into a world.
func loadBed(c conformance.Case, script conformance.RolloutScript, s conformance.RolloutStep) (*bed, error) {
	b := emptyBed(c, script, s.Before.TakenAt)
	docs := []map[string]any{b.placed(s.Before.Workload)}
	for _, other := range s.Before.Others {
		docs = append(docs, b.placed(other))
	}
	b.target, b.owner = refOfDoc(docs[0]), refOfDoc(ownerOfPods(docs))
	state := State{Revisions: map[cluster.Ref][]cluster.Revision{b.owner: b.revisions(s.Before)}}
	for _, doc := range docs {
		state.Objects = append(state.Objects, tree.FromValue(doc))
	}
	for _, claim := range s.Before.Claims {
		state.Claims = append(state.Claims, b.claim(claim))
	}
	for _, r := range s.Before.Pods {
		state.Pods = append(state.Pods, b.recorded(r))
	}
	for name, labels := range s.Before.NodeLabels {
		b.label(name, labels)
	}
	b.remember(s.Before.Pods)
	if err := b.Load(state); err != nil {
		return nil, err
	}
	return b, b.complete()
}

// label adds labels to a node, which may be one that only the recording knows.
func (b *bed) label(name string, labels map[string]string) {
	own := map[string]string{}
	if n := b.nodes[name]; n != nil {
		maps.Copy(own, n.Labels)
	}
	maps.Copy(own, labels)
	b.AddNode(name, own)
}

func (b *bed) revisions(s conformance.RolloutState) []cluster.Revision {
	var out []cluster.Revision
	for _, r := range s.Revisions {
		out = append(out, cluster.Revision{
			Name: r.Name, Number: r.Revision, Template: r.Template, ClaimsHash: r.Annotations[kruise.VolumeClaimTemplateHashAnnotation],
		})
	}
	return out
}

// remember knows the pods by their index, which is in the recorded uid.
func (b *bed) remember(list []conformance.RolloutPod) {
	for _, r := range list {
		n, err := strconv.Atoi(strings.TrimPrefix(r.UID, "p"))
		if err != nil || n < 1 {
			n = len(b.born) + 1
		}
		for len(b.born) < n {
			b.born = append(b.born, "")
		}
		b.born[n-1] = r.UID
	}
}

func (b *bed) claim(r conformance.RolloutClaim) *cluster.Claim {
	out := &cluster.Claim{Namespace: b.namespace, Name: r.Name, Labels: r.Labels}
	if len(r.Owners) > 0 {
		out.Owner.Kind, out.Owner.Name, _ = strings.Cut(r.Owners[0], "/")
	}
	return out
}

// recorded is a recorded pod in our terms.
func (b *bed) recorded(r conformance.RolloutPod) *cluster.Pod {
	p := &cluster.Pod{
		Namespace: b.namespace, Name: r.Name, UID: r.UID, Labels: r.Labels, Annotations: r.Annotations, Finalizers: r.Finalizers,
		Created: r.CreationTimestamp, Deleting: r.DeletionTimestamp != nil, Node: r.Node,
		Phase: corev1.PodPhase(r.Phase), ReadinessGates: r.ReadinessGates,
	}
	p.Owner.Kind, p.Owner.Name, _ = strings.Cut(r.Owner, "/")
	for _, c := range r.Conditions {
		p.Conditions = append(p.Conditions, cluster.Condition{
			Type: c.Type, Status: corev1.ConditionStatus(c.Status), Reason: c.Reason, Message: c.Message, Since: c.LastTransitionTime,
		})
	}
	for _, c := range r.Containers {
		p.Containers = append(p.Containers, cluster.Container{
			Name: c.Name, Image: c.Image, Reported: c.State != "", StatusImage: c.StatusImage, ImageID: c.ImageID,
			Restarts: c.RestartCount, Ready: c.Ready, Waiting: waitingReason(c.State),
		})
	}
	return p
}

// waitingReason reads "running", "waiting:ImagePullBackOff", and "terminated:..."
// of a container that is about to start again.
func waitingReason(state string) string {
	kind, reason, _ := strings.Cut(state, ":")
	if kind == "terminated" {
		return waitingCreating
	}
	return reason
}

// complete adds to the loaded pods what the recordings leave out: what their
// revision's template says of the containers' launch priority; and has the
// outside actor go on.
func (b *bed) complete() error {
	o := b.objects[b.owner]
	for _, e := range slices.Clone(o.pods.pods) {
		if since, ok := lifecycleAge(b, e.Pod); ok {
			b.hook(e.UID, string(rules.StateOf(e.Pod)), since)
		}
		like, err := b.fromTemplate(o, e.Pod)
		if err != nil {
			return err
		}
		if like == nil {
			continue
		}
		next := *e.Pod
		next.Containers = slices.Clone(next.Containers)
		for i := range next.Containers {
			if c, ok := like.Container(next.Containers[i].Name); ok {
				next.Containers[i].Priority = c.Priority
			}
		}
		e.Pod = &next
		b.all.now[e.inAll], o.pods.now[e.inO] = e.Pod, e.Pod
	}
	return nil
}

func (b *bed) fromTemplate(o *object, p *cluster.Pod) (*cluster.Pod, error) {
	for _, r := range o.revisions {
		if !rules.AtRevision(p, r.Name) {
			continue
		}
		mould, err := b.blueprint(o, r.Name)
		if err != nil {
			return nil, err
		}
		return mould.Pod(controller.CreatePod{Revision: r.Name}, controller.Newcomer{Namespace: p.Namespace, Name: p.Name, Owner: o.ref}, "", b.Now())
	}
	return nil, nil
}
