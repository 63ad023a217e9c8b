package controller

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
)

// stateful is what an Advanced StatefulSet and one of Kubernetes have in common:
// pods with a number, each with claims of its own (docs/kruise/workloads.md#advanced-statefulset).
type stateful struct {
	view      *View
	selector  *metav1.LabelSelector
	templates []corev1.PersistentVolumeClaim
	// whenDeleted and whenScaled are whether claims go with the set, and with
	// their pod when its ordinal is gone.
	whenDeleted, whenScaled bool
	// ordinals are those that should exist, ascending.
	ordinals []int
	// claims are the counts of those that there were when the pass began; none without templates for any.
	claims claimCounts
	// firstState is the lifecycle state of a pod that is created; "" is none.
	firstState rules.LifecycleState
}

// name is the name of the pod of an ordinal.
func (s *stateful) name(ordinal int) string {
	return s.view.Workload.Name + "-" + strconv.Itoa(ordinal)
}

// scaleUp creates the pods that are missing, each at the revision that is due.
func (s *stateful) scaleUp(pass *Pass, scale rules.StatefulSetScale, current, update string) {
	for _, c := range scale.Create {
		if why := s.stale(c.Ordinal); why != "" {
			pass.Why = why
			continue
		}
		revision := current
		if c.Update {
			revision = update
		}
		// Make the pod of an ordinal at a revision, with its claims.
		ordinal := c.Ordinal
		name := s.name(ordinal)
		// The claims that the pod of an ordinal mounts.
		var out []cluster.Claim
		for i := range s.templates {
			c := cluster.Claim{Namespace: s.view.Workload.Namespace, Name: s.templates[i].Name + "-" + s.name(ordinal), Labels: s.templates[i].Labels}
			if s.selector != nil {
				for k, v := range s.selector.MatchLabels {
					c.Labels = labelled(c.Labels, k, v)
				}
			}
			if s.whenDeleted {
				c.Owner = s.self()
			}
			out = append(out, c)
		}
		p := CreatePod{
			Name: name, Revision: revision, Claims: out,
			Labels: map[string]string{
				appsv1.ControllerRevisionHashLabelKey: revision,
				appsv1.StatefulSetPodNameLabel:        name,
				appsv1.PodIndexLabel:                  strconv.Itoa(ordinal),
			},
		}
		if s.firstState != "" {
			p.Labels[kruise.LifecycleStateLabel] = string(s.firstState)
			p.Annotations = map[string]string{kruise.LifecycleTimestampAnnotation: wholeSeconds(s.view.Now).Format(time.RFC3339)}
		}
		pass.act(p)
		s.event(pass, "Create", s.name(c.Ordinal))
	}
}

// delete asks for a pod's deletion.
func (s *stateful) delete(pass *Pass, p *cluster.Pod) {
	pass.act(DeletePod{Pod: p})
	s.event(pass, "Delete", p.Name)
}

func (s *stateful) event(pass *Pass, verb, pod string) {
	pass.act(Event{Type: corev1.EventTypeNormal, Reason: "Successful" + verb, Message: fmt.Sprintf(
		"%s Pod %s in StatefulSet %s successful", strings.ToLower(verb), pod, s.view.Workload.Name)})
}

func (s *stateful) self() cluster.Owner {
	return cluster.Owner{Kind: s.view.Workload.Kind, Name: s.view.Workload.Name, UID: s.view.Workload.UID}
}

// own gives claims the owner that the retention policy asks for: with the set
// when they go with it, with their pod as soon as its ordinal should not exist.
func (s *stateful) own(pass *Pass) {
	if len(s.templates) == 0 || len(s.view.Claims) == 0 || s.claims.foreign == 0 && !s.whenScaled {
		return
	}
	pods := make(map[string]*cluster.Pod, len(s.view.Pods))
	for _, p := range s.view.Pods {
		pods[p.Name] = p
	}
	for _, c := range s.view.Claims {
		ordinal, ok := s.ordinalOf(c)
		if !ok || c.Deleting {
			continue
		}
		if p := pods[s.name(ordinal)]; p != nil {
			if want := s.owner(ordinal, p); c.Owner != want && (c.Owner == cluster.Owner{} || c.Owner == s.self() || c.Owner.Kind == "Pod") {
				pass.act(ChangeClaim{Claim: c, Owner: &want})
			}
		}
	}
}

func (s *stateful) owner(ordinal int, p *cluster.Pod) cluster.Owner {
	if s.whenScaled && !s.wants(ordinal) {
		return cluster.Owner{Kind: "Pod", Name: p.Name, UID: p.UID}
	}
	return s.usualOwner()
}

// ordinalOf returns the number of the pod that a claim belongs to.
func (s *stateful) ordinalOf(c *cluster.Claim) (int, bool) {
	for i := range s.templates {
		if text, ok := strings.CutPrefix(c.Name, s.templates[i].Name+"-"+s.view.Workload.Name+"-"); ok {
			n, err := strconv.Atoi(text)
			return n, err == nil && n >= 0
		}
	}
	return 0, false
}

// stale names a claim of an ordinal that is on its way out with the pod before:
// a new pod has to wait for it.
func (s *stateful) stale(ordinal int) string {
	if s.claims.leaving == 0 {
		return ""
	}
	for _, c := range s.view.Claims {
		if n, ok := s.ordinalOf(c); ok && n == ordinal && (c.Owner.Kind == "Pod" || c.Deleting) {
			return fmt.Sprintf("claim %s of the pod before is not gone yet", c.Name)
		}
	}
	return ""
}
