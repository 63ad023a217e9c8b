package apply

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/command"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/kube/objects"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/counted"
)

// finishJobs waits for Jobs, before workloads are rolled out that may need what they
// do: a migration, images on nodes.
func (e *executor) finishJobs(ctx context.Context) error {
	if !e.wait || e.only {
		return nil
	}
	ctx, done := e.limited(ctx)
	defer done()
	for _, it := range e.items {
		if it.final == nil || endless(it.final) != "" || jobStatus(it.final).over && jobStatus(it.final).failed == "" {
			continue
		}
		if err := e.finish(ctx, it); err != nil {
			return err
		}
	}
	return nil
}

// limited bounds the waiting for Jobs: by their own limit, and by that of all.
func (e *executor) limited(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, all := e.rollouts.Within(ctx)
	if e.jobTimeout == 0 {
		return ctx, all
	}
	ctx, own := context.WithTimeout(ctx, e.jobTimeout)
	return ctx, func() { own(); all() }
}

// finish waits for one.
func (e *executor) finish(ctx context.Context, it *item) error {
	begun := time.Now()
	var last job
	defer printWaiting(e.factory.Streams.Err, nameOf(it.object))()
	err := e.client.Await(ctx, it.object, func(u *unstructured.Unstructured) bool {
		last = jobStatus(u)
		return last.over
	})
	switch {
	case err == nil && last.failed != "":
		e.report.object(it.object, "failed: "+last.failed)
		return command.ErrFailed
	case err == nil:
		e.report.object(it.object, "finished")
		return nil
	case errors.Is(err, objects.ErrGone):
		e.report.object(it.object, "failed: it was deleted before it was done")
		return command.ErrFailed
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		e.report.object(it.object, fmt.Sprintf("not finished after %s", time.Since(begun).Round(time.Second)))
		return command.ErrTimedOut
	case ctx.Err() != nil:
		return command.ErrInterrupted
	}
	return it.fault(err)
}

// heartbeat is how often a line says that something is still waited for.
const heartbeat = 10 * time.Second

// printWaiting prints what is waited for, again and again until it is stopped.
func printWaiting(out io.Writer, what string) (stop func()) {
	report := func() { _, _ = fmt.Fprintf(out, "waiting for %s to finish\n", what) }
	report()
	ticker, over := time.NewTicker(heartbeat), make(chan struct{})
	var gone sync.WaitGroup
	gone.Go(func() {
		for {
			select {
			case <-over:
				return
			case <-ticker.C:
				report()
			}
		}
	})
	return func() {
		ticker.Stop()
		close(over)
		gone.Wait()
	}
}

// job is the state of an object that ends by itself.
type job struct {
	over bool
	// failed is why it came to no good end.
	failed string
}

// jobs are the kinds of such objects, by GROUP/KIND.
var jobs = map[string]func(spec, status map[string]any) job{
	"batch/Job":                        byConditions,
	kruise.Group + "/BroadcastJob":     byConditions,
	kruise.Group + "/ImagePullJob":     byCount("node could not pull", "nodes could not pull"),
	kruise.Group + "/ImageListPullJob": byImages,
	kruise.Group + "/EphemeralJob":     byCount("pod failed", "pods failed"),
}

func jobKind(u *unstructured.Unstructured) string {
	gvk := u.GroupVersionKind()
	return gvk.Group + "/" + gvk.Kind
}

// endless is why the end of an object is not waited for; "" for one that is waited for.
func endless(u *unstructured.Unstructured) string {
	spec, _, _ := unstructured.NestedMap(u.Object, "spec")
	policy, _, _ := unstructured.NestedString(spec, "completionPolicy", "type")
	switch {
	case jobs[jobKind(u)] == nil:
		return "no job"
	case spec["suspend"] == true, spec["paused"] == true:
		return "it is suspended"
	case policy == string(kruise.NeverCompletionPolicyType):
		return "it never ends"
	}
	return ""
}

// jobStatus reads whether a job is over.
func jobStatus(u *unstructured.Unstructured) job {
	spec, _, _ := unstructured.NestedMap(u.Object, "spec")
	status, _, _ := unstructured.NestedMap(u.Object, "status")
	return jobs[jobKind(u)](spec, status)
}

// byConditions: of Complete and Failed, one becomes true.
func byConditions(_, status map[string]any) job {
	list, _, _ := unstructured.NestedSlice(status, "conditions")
	for _, item := range list {
		c, _ := item.(map[string]any)
		if c["status"] != "True" {
			continue
		}
		switch c["type"] {
		case "Complete":
			return job{over: true}
		case "Failed":
			return job{true, reason(c)}
		}
	}
	return job{}
}

func reason(c map[string]any) string {
	var parts []string
	for _, field := range []string{"reason", "message"} {
		if text, _ := c[field].(string); text != "" {
			parts = append(parts, text)
		}
	}
	if len(parts) == 0 {
		return "it failed"
	}
	return strings.Join(parts, ": ")
}

// byCount: it is over when it has a time of completion, and failed where it counts
// failures.
func byCount(one, other string) func(spec, status map[string]any) job {
	return func(_, status map[string]any) job {
		if status["completionTime"] == nil {
			return job{}
		}
		failed, _, _ := unstructured.NestedInt64(status, "failed")
		if failed == 0 {
			return job{over: true}
		}
		text := counted.With(int(failed), one, other)
		if nodes, _, _ := unstructured.NestedStringSlice(status, "failedNodes"); len(nodes) > 0 {
			text += ": " + strings.Join(nodes, ", ")
		}
		return job{true, text}
	}
}

// byImages: a list names the images that failed.
func byImages(_, status map[string]any) job {
	if status["completionTime"] == nil {
		return job{}
	}
	list, _, _ := unstructured.NestedSlice(status, "failedImageStatuses")
	var failed []string
	for _, item := range list {
		m, _ := item.(map[string]any)
		name, _ := m["name"].(string)
		message, _ := m["message"].(string)
		failed = append(failed, strings.TrimSuffix(name+": "+message, ": "))
	}
	return job{true, strings.Join(failed, "; ")}
}
