package controller

import (
	"encoding/json"
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
)

// enterState moves a pod to a lifecycle state (docs/kruise/workloads.md#lifecycle-hooks): the
// label, the time, what it does to readiness, and the hooks of a pod that is
// prepared again.
func enterState(c *cluster.PodChange, p *cluster.Pod, to rules.LifecycleState, l *kruise.Lifecycle, now time.Time) {
	label(c, kruise.LifecycleStateLabel, string(to))
	annotate(c, kruise.LifecycleTimestampAnnotation, new(stamp(now)))
	switch to {
	case rules.StatePreparingUpdate:
		if rules.StateOf(p) == rules.StateUpdated {
			// Set everything of a hook that has to hold the pod once more. There is none where the client drains a pod whose
			// workload has lost its hook.
			hook := l.InPlaceUpdate
			if hook != nil {
				for _, key := range slices.Sorted(maps.Keys(hook.LabelsHandler)) {
					label(c, key, hook.LabelsHandler[key])
				}
				c.AddFinalizers = append(c.AddFinalizers, hook.FinalizersHandler...)
			}
		}
		if rules.MarksNotReady(to, l) {
			holdNotReady(c, p, preUpdateHook)
		}
	case rules.StatePreparingDelete:
		if rules.MarksNotReady(to, l) {
			holdNotReady(c, p, preDeleteHook)
		}
	case rules.StateUpdated:
		letReady(c, p, preUpdateHook)
	}
}

// holder is an entry of the list in the message of the condition KruisePodReady:
// who holds the pod back.
type holder struct {
	UserAgent string `json:"userAgent"`
	Key       string `json:"key"`
}

var (
	preUpdateHook = holder{"Lifecycle", "preUpdateHook"}
	preDeleteHook = holder{"Lifecycle", "preDeleteHook"}
)

func holders(p *cluster.Pod) []holder {
	var list []holder
	if have, _ := p.Condition(kruise.KruisePodReady); have.Message != "" {
		// What cannot be read holds nothing.
		_ = json.Unmarshal([]byte(have.Message), &list)
	}
	return list
}

// holdNotReady adds to who holds the pod back.
func holdNotReady(c *cluster.PodChange, p *cluster.Pod, by holder) {
	if list := holders(p); !slices.Contains(list, by) {
		writeHolders(c, p, append(list, by))
	}
}

// letReady takes one of those away; the pod is let go when it was the last.
func letReady(c *cluster.PodChange, p *cluster.Pod, by holder) {
	if have, ok := p.Condition(kruise.KruisePodReady); !ok || have.Status == corev1.ConditionTrue {
		return
	}
	list := holders(p)
	writeHolders(c, p, slices.DeleteFunc(list, func(h holder) bool { return h == by }))
}

func writeHolders(c *cluster.PodChange, p *cluster.Pod, list []holder) {
	if len(list) == 0 {
		condition(c, p, kruise.KruisePodReady, corev1.ConditionTrue, "", "")
		return
	}
	text, err := json.Marshal(list)
	if err == nil {
		condition(c, p, kruise.KruisePodReady, corev1.ConditionFalse, "", string(text))
	}
}

// HoldNotReady is the change that holds a pod back from being ready in the name of
// a holder, such as a ContainerRecreateRequest; a pod without the readiness gate
// KruisePodReady stays as it is (docs/kruise/workloads.md#lifecycle-hooks,
// docs/kruise/jobs.md#containerrecreaterequest).
func HoldNotReady(p *cluster.Pod, agent, key string) cluster.PodChange {
	var c cluster.PodChange
	holdNotReady(&c, p, holder{agent, key})
	return c
}

// LetReady takes back what [HoldNotReady] does; the pod is ready again when no other
// holds it.
func LetReady(p *cluster.Pod, agent, key string) cluster.PodChange {
	var c cluster.PodChange
	letReady(&c, p, holder{agent, key})
	return c
}
