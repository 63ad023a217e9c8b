package clusterread

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/kubernetes"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/kube/verify"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/diagnose"
)

// The bounds of a sample of logs, of each side: pods, containers of a pod, and what of each
// container. Deadline is how long each part may take.
const (
	maxPods       = 3
	maxContainers = 2
	maxLogLines   = 1000
	maxLogBytes   = 256 << 10
	logWindow     = 5 * time.Minute
	maxQueries    = 5

	EvidenceDeadline = 4 * time.Second
)

// EvidenceReader reads evidence.
type EvidenceReader struct {
	Core kubernetes.Interface
	// Approved reports whether this user approved the plan on this machine. People who may write
	// ConfigMaps may edit the addresses in a stored plan, so the queries of any other plan are
	// skipped; nil approves none.
	Approved func(context.Context, *plan.Plan) bool
	// Deadline is how long each part may take; 0 is the usual one.
	Deadline time.Duration
}

// Read compares the pods of a rollout. It returns when all parts are there, or their time
// is up; it never fails.
func (r EvidenceReader) Read(ctx context.Context, q diagnose.Question) diagnose.Comparison {
	c, updated, old := diagnose.Compare(q)
	if r.Deadline <= 0 {
		r.Deadline = EvidenceDeadline
	}
	var mu sync.Mutex
	var parts sync.WaitGroup
	skip := func(part string, err error) {
		mu.Lock()
		defer mu.Unlock()
		c.Skipped = append(c.Skipped, diagnose.Skipped{Part: part, Why: skipReason(err)})
	}
	for name, side := range map[string]struct {
		of   *diagnose.Side
		pods []*cluster.Pod
	}{"logs of the new pods": {&c.New, updated}, "logs of the old pods": {&c.Old, old}} {
		parts.Go(func() {
			logs, err := r.logs(ctx, samplePods(side.pods), q.Now)
			if err != nil {
				skip(name, err)
			}
			if logs.Pods > 0 {
				side.of.Logs = &logs
			}
		})
	}
	queries := planQueries(q.Plan)
	if len(queries) > 0 && (r.Approved == nil || !r.Approved(ctx, &q.Plan)) {
		queries = nil
		skip("queries of the plan", errors.New("the plan was not approved on this machine, so its addresses are not asked"))
	}
	checks := make([]*diagnose.Check, len(queries))
	for i, s := range queries {
		parts.Go(func() {
			check, err := r.query(ctx, s)
			if err != nil {
				skip("query "+s.Name, err)
				return
			}
			checks[i] = &check
		})
	}
	parts.Wait()
	for _, k := range checks {
		if k != nil {
			c.Checks = append(c.Checks, *k)
		}
	}
	slices.SortFunc(c.Skipped, func(a, b diagnose.Skipped) int { return strings.Compare(a.Part, b.Part) })
	return c
}

// skipReason is an error in a line.
func skipReason(err error) string {
	switch {
	case apierrors.IsForbidden(err):
		return "no permission to read them: " + err.Error()
	case errors.Is(err, context.DeadlineExceeded):
		return "no answer in time"
	}
	return err.Error()
}

// samplePods are the pods whose logs are read: those that are not ready or were restarted
// first, since they have the most to tell, and the youngest of the others.
func samplePods(pods []*cluster.Pod) []*cluster.Pod {
	out := slices.Clone(pods)
	rank := func(p *cluster.Pod) int {
		for i := range p.Containers {
			if p.Containers[i].Restarts > 0 || !p.Containers[i].Ready {
				return 0
			}
		}
		return 1
	}
	slices.SortStableFunc(out, func(a, b *cluster.Pod) int {
		if x, y := rank(a), rank(b); x != y {
			return x - y
		}
		return b.Created.Compare(a.Created)
	})
	return out[:min(len(out), maxPods)]
}

// logs reads a sample; what could be read is returned with the first error.
func (r EvidenceReader) logs(ctx context.Context, pods []*cluster.Pod, now time.Time) (diagnose.Logs, error) {
	ctx, stop := context.WithTimeout(ctx, r.Deadline)
	defer stop()
	var out diagnose.Logs
	var failed error
	for _, p := range pods {
		for i, c := range p.Containers[:min(len(p.Containers), maxContainers)] {
			text, covers, err := r.log(ctx, p, c.Name, now)
			if err != nil {
				if failed == nil {
					failed = fmt.Errorf("pod %s, container %s: %w", p.Name, c.Name, err)
				}
				if apierrors.IsForbidden(err) || ctx.Err() != nil {
					return out, failed
				}
				continue
			}
			out.Add(text, covers, i == 0)
		}
	}
	return out, failed
}

// log is the end of a log without its times, and the time that it covers.
func (r EvidenceReader) log(ctx context.Context, p *cluster.Pod, container string, now time.Time) (string, time.Duration, error) {
	raw, err := r.Core.CoreV1().Pods(p.Namespace).GetLogs(p.Name, &corev1.PodLogOptions{
		Container: container, Timestamps: true, SinceSeconds: new(int64(logWindow / time.Second)), TailLines: new(int64(maxLogLines)), LimitBytes: new(int64(maxLogBytes)),
	}).DoRaw(ctx)
	if err != nil {
		if cause := context.Cause(ctx); cause != nil {
			err = cause
		}
		return "", 0, err
	}
	covers := logWindow
	if age := now.Sub(p.ReadySince()); p.IsReady() && age > 0 {
		covers = min(covers, age)
	}
	var first time.Time
	var b strings.Builder
	n := 0
	for line := range bytes.Lines(raw) {
		n++
		stamp, rest, ok := strings.Cut(string(line), " ")
		at, err := time.Parse(time.RFC3339Nano, stamp)
		if !ok || err != nil {
			b.Write(line)
			continue
		}
		if first.IsZero() {
			first = at
		}
		b.WriteString(rest)
	}
	if age := now.Sub(first); (n >= maxLogLines || len(raw) >= maxLogBytes) && !first.IsZero() && age > 0 {
		covers = min(covers, age)
	}
	return b.String(), max(covers, time.Second), nil
}

// planQueries are the steps of a plan that ask Prometheus, each question once.
func planQueries(p plan.Plan) []*plan.Step {
	var out []*plan.Step
	seen := map[[3]string]bool{}
	for i := range p.Steps {
		v := p.Steps[i].Verify
		if v == nil || v.Prometheus == "" || len(out) == maxQueries {
			continue
		}
		if key := [3]string{v.Prometheus, v.Query, v.Threshold}; !seen[key] {
			seen[key] = true
			out = append(out, &p.Steps[i])
		}
	}
	return out
}

// query asks a question of the plan once, with the least permissions.
func (r EvidenceReader) query(ctx context.Context, s *plan.Step) (diagnose.Check, error) {
	ctx, stop := context.WithTimeout(ctx, r.Deadline)
	defer stop()
	a := verify.Once(ctx, s.Verify, verify.Permissions{})
	if err := ctx.Err(); err != nil && !a.Good {
		return diagnose.Check{}, err
	}
	return diagnose.Check{Step: s.Name, Query: s.Verify.Query, Answer: a.Text, Good: a.Good}, nil
}
