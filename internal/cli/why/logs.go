package why

import (
	"context"
	"strings"
	"unicode"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-kruise/kubectl-kruise/internal/view"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/diagnose"
)

// What is shown of logs at most: one screen has room for no more.
const (
	mostLogs  = 2
	mostLines = 10
	mostBytes = 16 << 10
	mostWidth = 200
)

// logs are the last lines of containers that crash, one pod for each cause.
func (o *options) logs(ctx context.Context, d diagnose.Diagnosis, pods []*cluster.Pod) []view.LogTail {
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
func (o *options) tail(ctx context.Context, p *cluster.Pod, c cluster.Container) view.LogTail {
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
	out.Lines = lines(string(text))
	return out
}

// lines cuts a log into lines that do a terminal no harm.
func lines(text string) []string {
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
