// Package migrate decides how the replicas of one workload move to another of the
// counterpart kind, batch by batch: a Deployment's to a CloneSet, a StatefulSet's to
// an Advanced StatefulSet, and back. It is pure: the executor of a migration passes in
// the state of both sides, and carries out what comes back (docs/facts/older-plugin.md#migrate).
package migrate

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
)

// Annotation is where a migration is recorded, on the workload that replicas move
// to: starting the same migration again continues from there. A
// HorizontalPodAutoscaler that is held back for the time being has it, too.
const Annotation = "kubectl-kruise.dev/migration"

// Record is what is known of a migration beside the two workloads themselves. How far
// it is follows from their replicas now.
type Record struct {
	// From is the workload that replicas move from, UID the very object.
	From Workload `json:"from"`
	UID  string   `json:"uid"`
	// Replicas is how many move.
	Replicas int32 `json:"replicas"`
	// Source and Destination are the replicas of both sides before.
	Source      int32 `json:"source"`
	Destination int32 `json:"destination"`
	// Surge is how many pods there may be beyond those before; where pods keep their
	// names, how many are away at a time.
	Surge int32 `json:"surge"`
	// Ahead is how many more pods than Source the way back may find there: they had
	// come, and those they came for had not left.
	Ahead int32 `json:"ahead,omitempty"`
	// First is the lowest ordinal of pods that keep their names.
	First int32 `json:"first,omitempty"`
}

// Workload names one side, in the namespace of the migration.
type Workload struct {
	Group string `json:"group"`
	Kind  string `json:"kind"`
	Name  string `json:"name"`
}

// String is how messages name a workload, as the older plugin does. A kind of Kruise that
// shares its name with one of Kubernetes has a word of its own.
func (w Workload) String() string {
	if k := Of(w.Group, w.Kind); k != nil {
		return k.Word + "/" + w.Name
	}
	return w.Kind + "/" + w.Name
}

// Encode writes the record as compact JSON.
func (r Record) Encode() string {
	text, _ := json.Marshal(r) // strings and numbers alone
	return string(text)
}

// Decode reads a record.
func Decode(text string) (Record, error) {
	var r Record
	if err := json.Unmarshal([]byte(text), &r); err != nil {
		return Record{}, fmt.Errorf("annotation %s: %w", Annotation, err)
	}
	return r, r.check()
}

func (r Record) check() error {
	switch {
	case r.From.Name == "" || r.From.Kind == "":
		return errors.New("annotation " + Annotation + " names no workload")
	case r.Replicas < 0 || r.Replicas > r.Source || r.Destination < 0 || r.Surge <= 0 || r.Ahead < 0 || r.First < 0:
		return fmt.Errorf("annotation %s is not a valid migration: moves %d of %d, %d at a time", Annotation, r.Replicas, r.Source, r.Surge)
	}
	return nil
}

// Back returns the record that reverses a migration in progress, from the given state of both
// workloads: what has moved moves back.
func (r Record) Back(to Workload, source, destination Side) Record {
	out, in := r.Source-source.Replicas, destination.Replicas-r.Destination
	return Record{
		From: to, UID: destination.UID, Replicas: out, Source: r.Destination + out, Destination: source.Replicas,
		Surge: r.Surge, Ahead: max(0, in-out), First: r.First,
	}
}

// Kind is a kind that takes part in migrations.
type Kind struct {
	Group, Kind string
	// Word names the kind where --to of convert is meant; Words are all that mean it,
	// in lower case.
	Word  string
	Words []string
	// Counterpart is the kind on the other side, with Kruise or without.
	Counterpart *Kind
	// Keeps is true if pods keep their names and claims: there is only one of a name.
	Keeps bool
	// Nodes is true if nodes make the number of pods: none moves alone, see [Handover].
	Nodes bool
}

// kinds are those of both sides.
var kinds = counterparts(
	Kind{Group: "apps", Kind: kruise.KindDeployment, Word: kruise.KindDeployment, Words: []string{"deployment", "deployments", "deploy"}},
	Kind{Group: kruise.Group, Kind: kruise.KindCloneSet, Word: kruise.KindCloneSet, Words: []string{"cloneset", "clonesets", "clone"}},
	Kind{Group: "apps", Kind: kruise.KindStatefulSet, Word: kruise.KindStatefulSet, Words: []string{"statefulset", "statefulsets", "sts"}, Keeps: true},
	Kind{Group: kruise.Group, Kind: kruise.KindStatefulSet, Word: "AdvancedStatefulSet", Words: []string{"advancedstatefulset", "advancedstatefulsets", "asts"}, Keeps: true},
	Kind{Group: "apps", Kind: kruise.KindDaemonSet, Word: kruise.KindDaemonSet, Words: []string{"daemonset", "daemonsets", "ds"}, Nodes: true},
	Kind{Group: kruise.Group, Kind: kruise.KindDaemonSet, Word: "AdvancedDaemonSet", Words: []string{"advanceddaemonset", "advanceddaemonsets", "ads", "daemon"}, Nodes: true},
)

// counterparts makes each two neighbours counterparts.
func counterparts(list ...Kind) []*Kind {
	var out []*Kind
	for i := 0; i+1 < len(list); i += 2 {
		a, b := list[i], list[i+1]
		a.Counterpart, b.Counterpart = &b, &a
		out = append(out, &a, &b)
	}
	return out
}

// KindOf finds the kind that a word means: its name, or kind.group; nil for none.
func KindOf(word string) *Kind {
	word = strings.ToLower(word)
	name, group, grouped := strings.Cut(word, ".")
	for _, k := range kinds {
		if !grouped && slices.Contains(k.Words, word) {
			return k
		}
		if grouped && group == k.Group && strings.TrimSuffix(name, "s") == strings.ToLower(k.Kind) {
			return k
		}
	}
	return nil
}

// Of finds a kind; nil where it takes no part.
func Of(group, kind string) *Kind {
	for _, k := range kinds {
		if k.Group == group && k.Kind == kind {
			return k
		}
	}
	return nil
}

// Words are the proper names of all kinds.
func Words() []string {
	var out []string
	for _, k := range kinds {
		out = append(out, k.Word)
	}
	return out
}

// Native reports whether Kubernetes itself has the kind.
func (k *Kind) Native() bool { return k.Group != kruise.Group }

// Resource is the kind's name in URLs.
func (k *Kind) Resource() string { return strings.ToLower(k.Kind) + "s" }
