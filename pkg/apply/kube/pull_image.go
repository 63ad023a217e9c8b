package kube

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"k8s.io/client-go/rest"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/event"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// ImagePull is a pull that belongs to no rollout.
type ImagePull struct {
	Image string
	// Namespace is where the jobs are, and the Secrets, which are names.
	Namespace string
	Secrets   []string
	// Nodes are names.
	Nodes []string
	// Parallel is how many nodes pull at a time; 0 is ten.
	Parallel int
	// HelperImage is as in [Options].
	HelperImage string
}

// NodePull is the state of a pull on one node.
type NodePull struct {
	Node  string
	Phase kruise.ImagePullPhase
	// Why is empty without a problem.
	Why string
}

// ended reports whether nothing more will happen on the node.
func (n NodePull) ended() bool {
	return n.Phase == kruise.ImagePhaseSucceeded || n.Phase == kruise.ImagePhaseFailed
}

// PullImage pulls an image, by Kruise where it is installed, otherwise by Jobs, and
// returns how that went on each node, by name. told is called with changes meanwhile. When
// ctx ends first the pull continues in the cluster, and what is known so far is returned with
// the cause; the same call later continues with it.
func PullImage(ctx context.Context, cfg *rest.Config, p ImagePull, told func(NodePull)) ([]NodePull, error) {
	w, err := openPull(ctx, cfg, p)
	if err != nil {
		return nil, err
	}
	defer w.cancel(errClosed)
	reported := map[string]NodePull{}
	at, err := w.start(ctx)
	if err != nil {
		return nil, err
	}
	for {
		version, _ := w.changes.current()
		states := w.states(at)
		for _, s := range states {
			if reported[s.Node] != s {
				reported[s.Node] = s
				told(s)
			}
		}
		if err := w.jobPulls.state(at.stepID).failed; err != "" {
			return states, errors.New(err)
		}
		if !slices.ContainsFunc(states, func(s NodePull) bool { return !s.ended() }) {
			return states, nil
		}
		if err := w.await(ctx, version, w.Now().Add(pullErrorGrace)); err != nil {
			return states, err
		}
	}
}

// pullErrorGrace is how long pulling on a node may fail before that counts: registries have
// hiccups, and the kubelet tries again.
const pullErrorGrace = time.Minute

// PullRequests are the writes of [PullImage]: none where the same pull is in progress.
func PullRequests(ctx context.Context, cfg *rest.Config, p ImagePull) ([]event.Request, error) {
	w, err := openPull(ctx, cfg, p)
	if err != nil {
		return nil, err
	}
	defer w.cancel(errClosed)
	at, begun, err := w.find()
	if err != nil || begun {
		return nil, err
	}
	return w.requestsAt(at, w.pull())
}

func openPull(ctx context.Context, cfg *rest.Config, p ImagePull) (*imagePuller, error) {
	p.Nodes = slices.Compact(slices.Sorted(slices.Values(p.Nodes)))
	if len(p.Nodes) == 0 {
		return nil, errors.New("there is no node to pull on")
	}
	target := cluster.Ref{Kind: "Image", Namespace: p.Namespace, Name: shortHash(append(p.Nodes, p.Image)...)}
	conn, err := connect(ctx, cfg, Options{Target: Object{Ref: target}, HelperImage: p.HelperImage})
	if err != nil {
		return nil, err
	}
	steps := &stepObjects{connection: conn, observer: &observer{connection: conn}, record: newRecord(conn), lazy: newLazyMirrors(conn)}
	return &imagePuller{puller: newPuller(steps), ImagePull: p}, nil
}

// imagePuller is a pull that a caller waits for.
type imagePuller struct {
	*puller
	ImagePull
}

func (w *imagePuller) pull() *plan.Pull {
	return &plan.Pull{Images: []string{w.Image}, Parallel: w.Parallel}
}

// start asks for the pull, or continues with the one that is in progress.
func (w *imagePuller) start(ctx context.Context) (*pullTarget, error) {
	at, _, err := w.find()
	if err != nil {
		return nil, err
	}
	if w.lazy.pulls.ifStarted() != nil {
		_, _ = w.lazy.nodeImages.start() // not every user may read them
	}
	return at, w.pullAt(ctx, at, w.pull())
}

// find is the pull that is in progress, or the target of the next: one that has ended is
// done again.
func (w *imagePuller) find() (at *pullTarget, begun bool, err error) {
	if err := w.lazy.startFor(&plan.Step{Pull: w.pull()}); err != nil {
		return nil, false, err
	}
	for n := 0; ; n++ {
		at := w.targetOfAttempt(n)
		begun, over := w.status(at)
		if !begun || !over {
			return at, begun, nil
		}
	}
}

// targetOfAttempt is the target of the n-th pull of the same image.
func (w *imagePuller) targetOfAttempt(n int) *pullTarget {
	base := strings.Trim(strings.ToLower(w.Image[strings.LastIndex(w.Image, "/")+1:]), "-.")
	base, _, _ = strings.Cut(base, "@")
	base, _, _ = strings.Cut(base, ":")
	return &pullTarget{
		stepID: stepID(shortHash(w.opt.Target.String(), strconv.Itoa(n))), base: strings.ReplaceAll(base, "_", "-"),
		nodes: w.Nodes, secrets: w.Secrets,
	}
}

// status reports whether a pull was begun, and whether it has ended.
func (w *imagePuller) status(at *pullTarget) (begun, over bool) {
	if jobs := w.lazy.pulls.ifStarted(); jobs != nil {
		job, ok := jobs.get(w.Namespace, at.name(w.Image))
		return ok, ok && job.Status.CompletionTime != nil
	}
	over = true
	for _, node := range w.Nodes {
		job, ok := w.jobOf(at, w.Image, node)
		begun = begun || ok
		over = over && ok && jobEnded(job)
	}
	return begun, over
}

// states are how the pull is on each node.
func (w *imagePuller) states(at *pullTarget) []NodePull {
	find := w.stateOfJobs(at)
	if w.lazy.pulls.ifStarted() != nil {
		find = w.stateOfKruise(at)
	}
	states := make([]NodePull, len(w.Nodes))
	for i, node := range w.Nodes {
		states[i] = find(node)
		states[i].Node = node
	}
	return states
}

// stateOfJobs reads the Jobs.
func (w *imagePuller) stateOfJobs(at *pullTarget) func(node string) NodePull {
	return func(node string) NodePull {
		job, ok := w.jobOf(at, w.Image, node)
		if !ok {
			return NodePull{Phase: kruise.ImagePhaseWaiting}
		}
		t, done := w.nodeState(job, node, w.Image)
		switch {
		case t != nil && (t.Final || w.Now().Sub(t.Since) >= pullErrorGrace):
			return NodePull{Phase: kruise.ImagePhaseFailed, Why: t.Why}
		case t != nil:
			return NodePull{Phase: kruise.ImagePhasePulling, Why: t.Why}
		case done:
			return NodePull{Phase: kruise.ImagePhaseSucceeded}
		}
		return NodePull{Phase: kruise.ImagePhasePulling}
	}
}

// stateOfKruise reads the ImagePullJob, and the reports of the agents of nodes.
func (w *imagePuller) stateOfKruise(at *pullTarget) func(node string) NodePull {
	name := at.name(w.Image)
	job, _ := w.lazy.pulls.ifStarted().get(w.Namespace, name)
	images := w.lazy.nodeImages.ifStarted() // nil: nodes are reported at the end only
	return func(node string) NodePull {
		if images == nil {
			return nodePullOfJob(job, node)
		}
		image, there := images.get("", node)
		if s, ok := nodePullOfAgent(image, w.Namespace, name); there && ok && (job == nil || job.Status.CompletionTime == nil) {
			return s
		}
		if !there && job != nil && job.Status.CompletionTime != nil {
			return NodePull{Phase: kruise.ImagePhaseFailed, Why: "Kruise has no agent there: there is no NodeImage of its name"}
		}
		out := nodePullOfJob(job, node)
		if s, ok := nodePullOfAgent(image, w.Namespace, name); ok && out.Phase == kruise.ImagePhaseFailed {
			out.Why = s.Why
		}
		return out
	}
}

// nodePullOfJob is what the ImagePullJob alone reports about a node.
func nodePullOfJob(job *kruise.ImagePullJob, node string) NodePull {
	switch {
	case job == nil || job.Status.StartTime == nil:
		return NodePull{Phase: kruise.ImagePhaseWaiting}
	case slices.Contains(job.Status.FailedNodes, node):
		return NodePull{Phase: kruise.ImagePhaseFailed, Why: "see status of NodeImage " + node}
	case job.Status.CompletionTime != nil:
		return NodePull{Phase: kruise.ImagePhaseSucceeded}
	}
	return NodePull{Phase: kruise.ImagePhaseWaiting}
}

// nodePullOfAgent is what the agent of a node reports of a job.
func nodePullOfAgent(n *kruise.NodeImage, namespace, job string) (NodePull, bool) {
	if n == nil {
		return NodePull{}, false
	}
	s, ok := n.TagFor(namespace, job)
	return NodePull{Phase: s.Phase, Why: s.Message}, ok
}
