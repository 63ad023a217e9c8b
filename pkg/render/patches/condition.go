package patches

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/counted"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// Where the kinds keep how many pods are updated (and available, where they count
// that), by GROUP/KIND.
var updatedFields = map[string]string{
	kruise.Group + "/CloneSet":    ".status.updatedAvailableReplicas",
	kruise.Group + "/StatefulSet": ".status.updatedAvailableReplicas",
	kruise.Group + "/DaemonSet":   ".status.updatedNumberScheduled",
	kruise.Group + "/SidecarSet":  ".status.updatedReadyPods",
	"apps/Deployment":             ".status.updatedReplicas",
	"apps/StatefulSet":            ".status.updatedReplicas",
	"apps/DaemonSet":              ".status.updatedNumberScheduled",
}

// availableFields are for kinds that count updated pods, and available ones, but
// not those that are both.
var availableFields = map[string]string{
	kruise.Group + "/DaemonSet": ".status.numberAvailable",
	"apps/Deployment":           ".status.availableReplicas",
	"apps/StatefulSet":          ".status.availableReplicas",
	"apps/DaemonSet":            ".status.numberAvailable",
}

func kindOf(t Target) string { return resource.GroupOf(t.APIVersion) + "/" + t.Kind }

// before are a step's conditions that it needs to begin. What was just written
// needs no look; the uid and a partition that another client may have moved do.
func (w *writer) before(s *plan.Step) []Condition {
	var out []Condition
	for _, c := range s.Before {
		switch c.Type {
		case plan.HoldsUID:
			out = append(out, Condition{"it is the object with the uid " + c.Value, waitFor(w.object, ".metadata.uid", Quote(c.Value), soon)})
		case plan.HoldsTemplate:
			out = append(out, Condition{Text: "its template is " + w.templateText(c.Value)})
		case plan.HoldsPartition:
			out = append(out, w.partition(c.Value))
		case plan.HoldsPaused:
			out = append(out, Condition{Text: "spec.paused is " + c.Value})
		}
	}
	return out
}

// soon is how long a command looks for what should be there already, usual how long
// for what takes time where no limit is set.
const (
	soon  = "5s"
	usual = "10m"
)

func (w *writer) templateText(hash string) string {
	if hash == w.plan.Change.FromHash && hash != w.plan.Change.ToHash {
		return "the old one"
	}
	return "the new one"
}

func (w *writer) partition(value string) Condition {
	field := ".spec.updateStrategy.rollingUpdate.partition"
	if w.object.Kind == kruise.KindSidecarSet || w.object.Kind == kruise.KindCloneSet && w.object.APIVersion == kruise.Group+"/v1alpha1" {
		field = ".spec.updateStrategy.partition"
	}
	c := Condition{Text: "the partition is " + value}
	if value != "0" { // which may be written by leaving it out
		c.Check = waitFor(w.object, field, Quote(value), soon)
	}
	return c
}

// after are what must hold before the next step: the controller has seen the
// change, first of all, because what it counted before counts for the old template.
func (w *writer) after(s *plan.Step) []Condition {
	limit := timeout(s.Timeout)
	var out []Condition
	for _, c := range s.After {
		switch c.Type {
		case plan.HoldsReplicas:
			out = append(out, Condition{"there are " + c.Value + " pods", waitFor(w.object, ".status.replicas", c.Value, limit)})
		case plan.HoldsUpdatedAvailable:
			n, _ := strconv.Atoi(c.Value)
			out = append(out, w.updated(n, s, limit)...)
		case plan.HoldsComplete:
			out = append(out, w.complete(limit)...)
		case plan.HoldsPulled:
			out = append(out, Condition{Text: "the images are on the nodes"})
		}
	}
	if slices.ContainsFunc(s.Patches, func(p plan.Patch) bool { return p.Target == nil || p.Subresource == "" }) {
		seen := waitFor(w.object, ".status.observedGeneration", fieldInShell(w.object, ".metadata.generation"), limit)
		out = slices.Insert(out, 0, Condition{"the controller has seen the change", seen})
	}
	switch {
	case s.Pause != nil && s.Pause.For == 0:
		out = append(out, Condition{Text: "a user has checked the pods and continues"})
	case s.Verify != nil:
		out = append(out, Condition{Text: "the check succeeds: " + s.Title})
	}
	return out
}

// updated asks for so many updated and available pods.
func (w *writer) updated(n int, s *plan.Step, limit string) []Condition {
	key, total := kindOf(w.object), s.Updated+s.Kept
	field := updatedFields[key]
	switch {
	case n == 0 && w.known.Count:
		return nil
	case !w.known.Count:
		return []Condition{w.follows(limit)}
	case w.plan.Driver == plan.DriverClient:
		return []Condition{{Text: podsOf(n, total, "has the new revision and is ready", "have the new revision and are ready"), Check: w.ready(n, limit)}}
	case w.object.Kind == kruise.KindDeployment && n < total:
		return w.deploymentConditions(n, s)
	case field == "":
		return []Condition{{Text: podsOf(n, total, "is updated and ready", "are updated and ready")}}
	}
	out := []Condition{{podsOf(n, total, "is updated", "are updated"), waitFor(w.object, field, strconv.Itoa(n), limit)}}
	if available := availableFields[key]; available != "" {
		text := "all " + podsAvailable(total)
		if total == 1 {
			text = "the pod is available"
		}
		return append(out, Condition{text, waitFor(w.object, available, strconv.Itoa(total), limit)})
	}
	out[0].Text += " and available"
	return out
}

// podsOf returns n of total pods with the predicate for a total of one, or of several.
func podsOf(n, total int, one, several string) string {
	return fmt.Sprintf("%d of %s", n, counted.With(total, "pod "+one, "pods "+several))
}

func podsAvailable(n int) string { return counted.PodsAre(n) + " available" }

// deploymentConditions is [writer.updated] for a Deployment in the middle: it is paused once enough
// pods are updated, by when more may be, and some may be missing while it applies.
func (w *writer) deploymentConditions(n int, s *plan.Step) []Condition {
	total, limit := s.Updated+s.Kept, seconds(s.Timeout)
	least := max(total-w.plan.Limits.MaxUnavailable, 0)
	return []Condition{
		{"at least " + podsOf(n, total, "is updated", "are updated"), atLeast(w.object, ".status.updatedReplicas", n, limit)},
		{"at least " + podsAvailable(least), atLeast(w.object, ".status.availableReplicas", least, limit)},
	}
}

// follows asks that the pods which the partition lets go have gone, however many
// they are.
func (w *writer) follows(limit string) Condition {
	c := Condition{Text: "all pods that can be updated are updated and available"}
	if kindOf(w.object) == kruise.Group+"/CloneSet" {
		c.Check = waitFor(w.object, ".status.updatedAvailableReplicas", fieldInShell(w.object, ".status.expectedUpdatedReplicas"), limit)
	}
	return c
}

// ready waits for pods by the label of their revision, where its value is known
// beforehand: that of a ReplicaSet, which the client has written into the template.
func (w *writer) ready(n int, limit string) string {
	if w.object.Kind != kruise.KindReplicaSet || n == 0 {
		return ""
	}
	these := "pod" + inNamespace(w.object) + " -l controller-revision-hash=" + Quote(w.plan.Change.ToHash)
	there := retryInShell(fmt.Sprintf(`"$(kubectl get %s -o name | wc -l)" -ge %d`, these, n), patient)
	return there + " && kubectl wait " + these + " --for=condition=Ready --timeout=" + limit
}

// complete is the whole rollout, which kubectl can judge for kinds of Kubernetes.
func (w *writer) complete(limit string) []Condition {
	if w.plan.Driver != plan.DriverNative {
		return nil
	}
	if w.object.Kind == kruise.KindReplicaSet {
		return nil
	}
	return []Condition{{"the rollout is complete", "kubectl rollout status " + arguments(w.object) + " --timeout=" + limit}}
}

// stepConditions is what a patch in the middle of a step waits for.
func (w *writer) stepConditions(n int, s *plan.Step) []Condition {
	field := updatedFields[kindOf(w.object)]
	if n == 0 || field == "" {
		return nil
	}
	// It can run past the number before the first check: a Deployment does not stop
	// by itself.
	return []Condition{{"at least " + podsOf(n, s.Updated+s.Kept, "is updated", "are updated"), atLeast(w.object, field, n, seconds(s.Timeout))}}
}

func timeout(d plan.Duration) string { return strconv.Itoa(seconds(d)) + "s" }

func seconds(d plan.Duration) int {
	if d <= 0 {
		return patient
	}
	return int(time.Duration(d).Round(time.Second).Seconds())
}

// counted has the first patch check the number of pods that the partitions were
// worked out for.
func (w *writer) counted(s *Sequence) {
	if !w.known.Count || w.plan.Limits.Replicas == 0 || !replicated[w.object.Kind] || w.plan.Resizes() {
		return
	}
	for i := range s.Steps {
		if s.Steps[i].Patch == nil {
			continue
		}
		n := strconv.Itoa(w.plan.Steps[0].Updated + w.plan.Steps[0].Kept)
		s.Steps[i].Before = append(s.Steps[i].Before, Condition{
			"spec.replicas is " + n + ": the steps are computed for that number",
			waitFor(w.object, ".spec.replicas", n, soon),
		})
		return
	}
}

var replicated = map[string]bool{kruise.KindCloneSet: true, kruise.KindStatefulSet: true, kruise.KindDeployment: true, kruise.KindReplicaSet: true}
