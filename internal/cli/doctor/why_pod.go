package doctor

import (
	"context"
	"fmt"
	"strings"
	"unicode"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/resourcearg"
	"github.com/kubectl-kruise/kubectl-kruise/internal/view"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/diagnose"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// pod answers for one pod: its workload first, its sidecars after.
func (o *whyOptions) pod(ctx context.Context, namespace, name string) (view.Diagnosed, error) {
	p, err := o.core.CoreV1().Pods(namespace).Get(ctx, name, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		return view.Diagnosed{}, &resource.Error{Err: apierrors.NewNotFound(corev1.Resource("pods"), name), Hint: "check the name and -n; a workload is named TYPE/NAME, for instance cloneset/web"}
	case err != nil:
		return view.Diagnosed{}, fmt.Errorf("cannot read pod %s: %w", name, err)
	}
	read := cluster.ReadPod(p)
	d := diagnose.UnmanagedPod(read)
	if owner, ok := o.owner(ctx, p); ok {
		q, err := o.question(ctx, owner, namespace)
		if err != nil {
			return view.Diagnosed{}, err
		}
		d = diagnose.Pod(q, name)
	}
	if d.Sidecars, err = o.sidecars(ctx, read); err != nil {
		return view.Diagnosed{}, err
	}
	return view.Diagnosed{Diagnosis: d, Logs: o.logs(ctx, d, []*cluster.Pod{read})}, nil
}

// owner finds the workload that a pod belongs to: the Deployment of its ReplicaSet,
// and the Kruise workload that a native one was rendered from.
func (o *whyOptions) owner(ctx context.Context, p *corev1.Pod) (resourcearg.Name, bool) {
	ref := metav1.GetControllerOf(p)
	if ref != nil && ref.Kind == kruise.KindReplicaSet {
		if rs, err := o.core.AppsV1().ReplicaSets(p.Namespace).Get(ctx, ref.Name, metav1.GetOptions{}); err == nil && metav1.GetControllerOf(rs) != nil {
			ref = metav1.GetControllerOf(rs)
		}
	}
	if ref == nil {
		return resourcearg.Name{}, false
	}
	if name, ok := sourceName(p.Labels[kruise.SourceLabel]); ok {
		return name, true
	}
	group, _, _ := strings.Cut(ref.APIVersion, "/")
	name, err := resourcearg.Parse(strings.ToLower(ref.Kind) + "." + group + "/" + ref.Name)
	return name, err == nil
}

// sourceName reads the label that rendering leaves: KIND.NAME, unless it was too long.
func sourceName(label string) (resourcearg.Name, bool) {
	kind, name, ok := strings.Cut(label, ".")
	if !ok || kruise.SourceValue(kind, name) != label {
		return resourcearg.Name{}, false
	}
	out, err := resourcearg.Parse(kind + "/" + name)
	return out, err == nil
}

// What is shown of logs at most: one screen has room for no more.
const (
	mostLogs  = 2
	mostLines = 10
	mostBytes = 16 << 10
	mostWidth = 200
)

// logs are the last lines of containers that crash, one pod for each cause.
func (o *whyOptions) logs(ctx context.Context, d diagnose.Diagnosis, pods []*cluster.Pod) []view.LogTail {
	var out []view.LogTail
	for _, c := range d.Causes {
		if c.Gate != plan.GateCrash || len(c.Pods) == 0 || len(out) == mostLogs {
			continue
		}
		for _, p := range pods {
			if container, ok := diagnose.Troubled(p); ok && p.Name == c.Pods[0] {
				out = append(out, o.tail(ctx, p, container))
				break
			}
		}
	}
	return out
}

// tail reads the log of the container that ended, or else of the one that runs.
func (o *whyOptions) tail(ctx context.Context, p *cluster.Pod, c cluster.Container) view.LogTail {
	out := view.LogTail{Pod: p.Name, Container: c.Name}
	var text []byte
	var err error
	for _, previous := range []bool{true, false} {
		text, err = o.core.CoreV1().Pods(p.Namespace).GetLogs(p.Name, &corev1.PodLogOptions{
			Container: c.Name, Previous: previous, TailLines: new(int64(mostLines)), LimitBytes: new(int64(mostBytes)),
		}).DoRaw(ctx)
		if err == nil {
			break
		}
	}
	if err != nil {
		out.Error = err.Error()
		return out
	}
	out.Lines = textLines(string(text))
	return out
}

// textLines cuts a log into lines that do a terminal no harm.
func textLines(text string) []string {
	list := strings.Split(strings.TrimRight(text, "\n"), "\n")
	list = list[max(len(list)-mostLines, 0):]
	var out []string
	for _, l := range list {
		clean := []rune(strings.Map(func(r rune) rune {
			if r == '\t' || unicode.IsPrint(r) {
				return r
			}
			return -1
		}, l))
		if len(clean) > mostWidth {
			clean = append(clean[:mostWidth-1], '…')
		}
		out = append(out, string(clean))
	}
	return out
}
