package conformance

import (
	"fmt"
	"time"
)

// SpreadWorld is a cluster in which a case of area spread is replayed.
type SpreadWorld interface {
	// Apply creates or replaces an object; an error is a refusal.
	Apply(o map[string]any) error
	// Delete removes an object, and Pods those of its kind and name.
	Delete(kind, name string) error
	// Patch is a JSON merge patch of an object.
	Patch(kind, name string, patch map[string]any) error
	// DeletePods deletes live pods by their place in the order of creation, from 1;
	// nil deletes all.
	DeletePods(places []int) error
	// Wait lets time pass, Settle waits until nothing changes any more.
	Wait(time.Duration) error
	Settle() error
	// Pods are the live pods, oldest first. Gone are those that went away since the
	// last call, as they were then, or as they were last if they came since.
	Pods() []SpreadPod
	Gone() []SpreadPod
	// Status is the status of each WorkloadSpread, by name.
	Status() map[string]any
}

// SpreadPod is a pod of a replayed case.
type SpreadPod struct {
	UID, Name string
	// Generated: the name ends in something random.
	Generated bool
	// Version is what tells its template from others; empty where nothing does.
	Version     string
	Labels      map[string]string
	Annotations map[string]string
	Spec        map[string]any
	// Pending: the pod has no node.
	Pending bool
	// New: the pod came since the last step.
	New bool
}

// Spread replays a case, all of its steps, and compares the pods, those that went,
// and the status after each.
func Spread(c Case, w SpreadWorld) error {
	return eachStep(c, func(docs []map[string]any, want map[string]any) error {
		refused := ""
		for _, d := range docs {
			if kind := kindOf(d); d["apiVersion"] != "conformance/v1" {
				if err := w.Apply(d); err != nil {
					refused = kind + "/" + nameOf(d)
					if want["result"] != "rejected" {
						return fmt.Errorf("%s: %w", refused, err)
					}
					break
				}
			} else if err := spreadDeed(w, d); err != nil {
				return err
			}
		}
		if err := Different("refusal", Diff(text(want, "refusal", "object"), refused)); err != nil {
			return err
		}
		if err := w.Settle(); err != nil {
			return err
		}
		return compareSpread(want, w)
	})
}

// spreadDeed does what a user does.
func spreadDeed(w SpreadWorld, d map[string]any) error {
	kind := kindIn(text(d, "of"))
	switch kindOf(d) {
	case "Wait":
		seconds, _ := d["seconds"].(int64)
		return w.Wait(time.Duration(seconds) * time.Second)
	case "DeleteObject":
		return w.Delete(kind, nameOf(d))
	case "MergePatch":
		return w.Patch(kind, nameOf(d), mapping(d["patch"]))
	case "DeletePods":
		var places []int
		for _, o := range items(d["orders"]) {
			if n, ok := o.(int64); ok {
				places = append(places, int(n))
			}
		}
		return w.DeletePods(places)
	}
	return fmt.Errorf("a %s is not understood", kindOf(d))
}
