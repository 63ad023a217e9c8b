package simulate

import (
	"time"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// Options define how the model cluster behaves. The zero value is a cluster with Kruise's
// defaults, nodes that do everything at once, and controllers without delay; [DefaultOptions] is
// what a preview assumes.
type Options struct {
	// Seed decides all that is left to chance.
	Seed uint64
	// Start is the time at which the clock begins; zero is the first second of
	// 2026.
	Start time.Time
	Gates cluster.Gates
	// ReadinessGate is the feature gate KruisePodReadinessGate: every pod has the
	// gate KruisePodReady, not only those of Kruise's workloads.
	ReadinessGate bool
	// GuardUpdates is the feature gate PodUnavailableBudgetUpdateGate.
	GuardUpdates bool
	Agent        Agent
	// Latency is how long after a change a controller looks, and LatencyPerPod
	// what each pod that it owns adds to it. All changes until then come to one
	// pass.
	Latency, LatencyPerPod time.Duration
	// Capacity is how many pods fit on a node; 0 is no limit.
	Capacity int
	// Affinity has the scheduler heed node selectors, node affinity and taints. It
	// is for a cluster whose nodes are known as they are.
	Affinity bool
	// Admit is asked about every object that is written, after its defaults; an
	// error refuses it. nil admits all.
	Admit Admit
	// Answers are what a plan's questions are answered, one after another; those beyond are
	// answered that all is good.
	Answers []plan.Result
	// Recover are the UIDs of pods that are not ready in the beginning and become ready, as if they had
	// just been started; the others stay as they are until their containers start again. RecoverAll
	// has every pod recover.
	Recover    map[string]bool
	RecoverAll bool
	// Fail are pods that never become ready once updated: 1 is the first pod that
	// gets the new revision, or is made with it.
	Fail []int
	// Progress, when set, is told which part of the pods of a rollout has the new revision, from 0 to 1.
	Progress func(done float64)
	// forgets has controllers remember nothing of pods from pass to pass: what happens is the same.
	forgets bool
}

// Agent is how the nodes treat their pods.
type Agent struct {
	// Start is from having the image until the container runs, Ready from then
	// until it is ready, Stop from a pod's deletion until it is gone.
	Start, Ready, Stop Span
	// Pull is how long a node takes for an image that it does not have.
	Pull Span
	// Unpullable are the ends of names of images that no node can pull.
	Unpullable []string
	// Reread is whether nodes restart a container whose env reads a label or annotation that went
	// away. Kruise's own daemon does not; the simulated nodes of the recordings did.
	Reread bool
	// Override is what is special about one pod; nil means nothing. It is asked
	// again after each change of the pod.
	Override func(*cluster.Pod) Override
}

// Override is what is special about one pod.
type Override struct {
	// Unready pods never become ready, and stop being ready.
	Unready bool
	// Crash containers end a second after their start, again and again.
	Crash bool
	// Ready takes the place of [Agent.Ready]; nil leaves it.
	Ready *Span
}

// DefaultOptions is what a preview assumes of a cluster that is not described: images
// take 5 s to pull, containers 1 s to start and 2 s to become ready, pods 2 s to
// go.
func DefaultOptions() Options {
	return Options{
		Gates: cluster.DefaultGates(),
		Agent: Agent{
			Start: Exactly(time.Second), Ready: Exactly(2 * time.Second), Stop: Exactly(2 * time.Second), Pull: Exactly(5 * time.Second),
		},
		Latency: 20 * time.Millisecond, LatencyPerPod: 20 * time.Microsecond,
	}
}

// defaultStart is the first second of 2026.
const defaultStart = 1767225600

func (o Options) start() time.Time {
	if o.Start.IsZero() {
		return time.Unix(defaultStart, 0).UTC()
	}
	return o.Start
}
