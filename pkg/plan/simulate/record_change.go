package simulate

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
)

// changed keeps what a change did to a pod, in the words of the recordings.
func (r *recorder) changed(w *World, e *pod, before *cluster.Pod, reason string) {
	if r.target == nil {
		return
	}
	if r.owns(e) {
		for _, rec := range differences(before, e.Pod) {
			rec.Reason = reason
			r.count(e, rec)
			r.add(w, e, rec)
		}
	}
	r.reclassify(w, e)
	if before := revisionOf(before); before != revisionOf(e.Pod) {
		w.fate(e, before)
	}
}

func (r *recorder) count(e *pod, rec Record) {
	switch {
	case rec.Op == OpStarted && rec.From != "":
		r.restarts++
	case rec.Op == OpDelete && !r.made[e.UID]:
		r.recreated++
	}
}

// differences are the records of one change.
func differences(a, b *cluster.Pod) []Record {
	out := written(a, b)
	if b.Deleting && !a.Deleting {
		out = append(out, Record{Op: OpDelete})
	}
	if from, to := rules.StateOf(a), rules.StateOf(b); from != to {
		out = append(out, Record{Op: OpLifecycle, From: string(from), To: string(to)})
	}
	out = append(out, conditions(a, b, kruise.InPlaceUpdateReady, kruise.KruisePodReady)...)
	out = append(out, containers(a, b)...)
	return append(out, conditions(a, b, string(corev1.PodReady))...)
}

// written is what a controller wrote into the pod.
func written(a, b *cluster.Pod) []Record {
	var out []Record
	images := imagesChanged(a, b)
	from, to := revisionOf(a), revisionOf(b)
	switch {
	case a.Annotations[kruise.SidecarSetHashAnnotation] != b.Annotations[kruise.SidecarSetHashAnnotation] && a.Annotations[kruise.SidecarSetHashAnnotation] != "":
		out = append(out, Record{Op: OpSidecarUpdate, Container: images})
	case from != to && from != "":
		out = append(out, Record{Op: OpInPlace, From: from, To: to, Container: images})
	case images != "":
		out = append(out, Record{Op: OpApplyImages, Container: images})
	}
	if rules.SpecifiedDelete(b) && !rules.SpecifiedDelete(a) {
		out = append(out, Record{Op: OpMarkDelete})
	}
	return out
}

// imagesChanged names the containers whose images changed.
func imagesChanged(a, b *cluster.Pod) string {
	if sameSlice(a.Containers, b.Containers) {
		return ""
	}
	var out []string
	for i := range b.Containers {
		if a.Containers[i].Image != b.Containers[i].Image {
			out = append(out, b.Containers[i].Name)
		}
	}
	return strings.Join(out, ",")
}

// sameSlice reports whether two lists share their elements.
func sameSlice[T any](a, b []T) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0])
}

// conditions are those that a person follows.
func conditions(a, b *cluster.Pod, kinds ...string) []Record {
	if sameSlice(a.Conditions, b.Conditions) {
		return nil
	}
	var out []Record
	for _, kind := range kinds {
		was, known := a.Condition(kind)
		is, _ := b.Condition(kind)
		up, down := OpMarkReady, OpMarkNotReady
		if kind == string(corev1.PodReady) {
			up, down = OpReady, OpNotReady
		}
		switch {
		case was.Status == is.Status || !known:
		case is.Status == corev1.ConditionTrue:
			out = append(out, Record{Op: up, To: kind})
		case was.Status == corev1.ConditionTrue:
			out = append(out, Record{Op: down, To: kind})
		}
	}
	return out
}

// containers are stops, starts and what keeps containers from running.
func containers(a, b *cluster.Pod) []Record {
	if sameSlice(a.Containers, b.Containers) {
		return nil
	}
	var out []Record
	for i := range b.Containers {
		was, is := &a.Containers[i], &b.Containers[i]
		ran, runs := was.Reported && was.Waiting == "", is.Reported && is.Waiting == ""
		switch {
		case runs && !ran:
			rec := Record{Op: OpStarted, Container: is.Name, To: is.Image}
			if was.Reported && was.StatusImage != "" {
				rec.From = was.StatusImage
			}
			out = append(out, rec)
		case ran && !runs:
			out = append(out, Record{Op: OpStopped, Container: is.Name})
		}
		if is.Waiting != was.Waiting && slices.Contains([]string{waitingBackOff, waitingCrash}, is.Waiting) {
			out = append(out, Record{Op: OpWaiting, Container: is.Name, To: is.Waiting})
		}
	}
	return out
}
