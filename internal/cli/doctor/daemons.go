package doctor

import (
	"context"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/doctor/verdict"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
)

// agents is the label of the pods that restart containers and pull images for Kruise.
const agents = "control-plane=daemon"

// daemons looks on which nodes Kruise's daemon is ready.
func (p *patient) daemons(ctx context.Context) []verdict.Line {
	nodes, err := p.core.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
	if err != nil {
		return []verdict.Line{verdict.Odd("daemon", "", "the nodes cannot be read: %v", err)}
	}
	pods, err := p.core.CoreV1().Pods(kruise.DefaultNamespace).List(ctx, metav1.ListOptions{LabelSelector: agents})
	if err != nil {
		return []verdict.Line{verdict.Odd("daemon", "", "its pods cannot be read: %v", err)}
	}
	ready := map[string]bool{}
	for _, pod := range pods.Items {
		for _, c := range pod.Status.Conditions {
			ready[pod.Spec.NodeName] = ready[pod.Spec.NodeName] || c.Type == "Ready" && c.Status == "True"
		}
	}
	var without []string
	for _, n := range nodes.Items {
		if !ready[n.Name] {
			without = append(without, n.Name)
		}
	}
	if len(without) == 0 {
		return []verdict.Line{verdict.Good("daemon", "ready on all %d nodes", len(nodes.Items))}
	}
	return []verdict.Line{verdict.Odd(
		"daemon", "containers there restart by another name of the image or a signal, and images are pulled by pods",
		"not ready on %d of %d nodes: %s", len(without), len(nodes.Items), few(without),
	)}
}

// few names the first of many.
func few(names []string) string {
	const some = 5
	if len(names) > some {
		return strings.Join(names[:some], ", ") + ", …"
	}
	return strings.Join(names, ", ")
}
