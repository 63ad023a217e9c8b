package plan

import (
	"time"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/controller"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
)

// Snapshot is what is known of one workload at one moment.
type Snapshot struct {
	// Version changes whenever anything below does.
	Version  string
	Workload *cluster.Workload
	// Carrier is the native object that was rendered from a Kruise workload, in a cluster without
	// Kruise; nil when Workload itself is in the cluster.
	Carrier *cluster.Workload
	// Revisions and Pods are those that belong to the workload; a SidecarSet's
	// pods are those it may match, of all namespaces.
	Revisions []cluster.Revision
	Pods      []*cluster.Pod
	Nodes     map[string]*cluster.Node
	// Namespaces are the labels of each namespace; only SidecarSets need them.
	Namespaces map[string]map[string]string
	// Budgets and Disruptions cover at least one of the pods.
	Budgets     []*rules.Budget
	Disruptions []*rules.DisruptionBudget
	Reports     map[string]rules.NodeReport
	Gates       cluster.Gates
	// GatesUnread is why the gates are assumed, since what Kruise's manager was started
	// with could not be read; empty where they are known.
	GatesUnread string
	// Pulled is on how many of the workload's nodes each image is.
	Pulled map[string]int
	// Pulling are images whose pull was requested, which the cluster
	// itself remembers.
	Pulling map[string]bool
	// Pulls are problems of pulls, by image: empty while all goes well.
	Pulls map[string]PullState
	// Verified are results of verify steps by step name, and of restarts by
	// [RestartKey].
	Verified map[string]Result
	// Progress is how far the plan has come, as recorded in the cluster.
	Progress Progress
	// Base is the template that the rollout started from, as recorded; nil where
	// none was.
	Base map[string]any
	// Answers is what is remembered of Pods from one decision to the next, nil for nothing; each
	// decision is the same without it.
	Answers *cluster.Answers
}

// Object is the one in the cluster: the carrier if there is one. It is nil when that
// is gone.
func (s *Snapshot) Object() *cluster.Workload {
	if s.Carrier != nil {
		return s.Carrier
	}
	return s.Workload
}

// Members are the pods that the workload counts in its status. They are all pods of a
// snapshot but for a SidecarSet, which is handed every pod that its labels may match and
// counts those in its namespaces that have its containers (docs/kruise/sidecarset.md#matched-pods).
func (s *Snapshot) Members() []*cluster.Pod {
	isMember := s.memberTest()
	if isMember == nil {
		return s.Pods
	}
	var out []*cluster.Pod
	for _, p := range s.Pods {
		if isMember(p) {
			out = append(out, p)
		}
	}
	return out
}

// memberTest distinguishes the pods of [Snapshot.Members]; nil where these are all of them.
func (s *Snapshot) memberTest() func(*cluster.Pod) bool {
	w := s.Object()
	if w == nil || w.Object == nil {
		return nil
	}
	return kindOf(w.Object).memberTest(s)
}

// sidecarSetRules is a SidecarSet as the rules see it, with the pods and the namespaces of the
// snapshot.
func (s *Snapshot) sidecarSetRules(w *cluster.Workload, o *kruise.SidecarSet) *rules.SidecarSet {
	set := controller.SidecarSetRules(w, o, s.Gates.Release)
	set.Namespaces, set.Pods = s.Namespaces, s.Pods
	return set
}

// report returns what the node reports about a pod; without a report nothing is pending.
func (s *Snapshot) report(p *cluster.Pod) rules.NodeReport {
	if r, ok := s.Reports[p.UID]; ok {
		return r
	}
	return rules.NodeReport{EnvHashes: true, Resources: true}
}

// Observed reports whether the controller has seen the present spec of the object; true
// where there is none.
func (s *Snapshot) Observed() bool {
	w := s.Object()
	return w == nil || w.Object == nil || rules.Observed(w.Object)
}

// Observed reports whether the controller has seen the present spec: until then its
// status, and so which pods are updated, is that of another.
func Observed(s Snapshot) bool {
	w := s.Object()
	return w != nil && w.Object != nil && rules.Observed(w.Object)
}

// PullState is the state of the pull of one image.
type PullState struct {
	// Over is true when no node continues to pull it.
	Over bool
	// Troubles are the nodes that do not get it.
	Troubles []PullTrouble
}

// PullTrouble is one node that does not get an image.
type PullTrouble struct {
	Node, Why string
	// Final is true where the node does not try again; Since is when retries began to
	// fail.
	Final bool
	Since time.Time
}

// Result is the answer to one verify step.
type Result struct {
	Done, Good bool
	// Text is what was seen, for users.
	Text string
	At   time.Time
}
