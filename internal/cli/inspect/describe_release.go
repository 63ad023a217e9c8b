package inspect

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/resourcearg"
	safe "github.com/kubectl-kruise/kubectl-kruise/internal/text"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/kube/release"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/stage"
)

// describeLook describes how the page of a Rollout looks.
type describeLook struct {
	color bool
	// all pods, not only those of the present batch.
	all bool
}

// releasePage describes a Rollout (docs/facts/older-plugin.md#describe-get-completion), with the
// workload that it is for, nil where that cannot be read, and its pods.
func releasePage(u, workload *unstructured.Unstructured, list []corev1.Pod, l describeLook, now time.Time) (string, error) {
	r, err := release.Read(u)
	if err != nil {
		return "", err
	}
	p := &page{}
	p.row("Name", "%s", r.Name)
	p.row("Namespace", "%s", r.Namespace)
	if r.Phase != "" {
		p.row("Status", "%s %s", phaseIcon(r.Phase, l), r.Phase)
	}
	if r.Message != "" {
		p.row("Message", "%s", r.Message)
	}
	strategy := "Canary"
	if r.Style == release.BlueGreen {
		strategy = "BlueGreen"
	}
	p.row("Strategy", "%s", strategy)
	p.steps(r, u, l)
	p.routings(mapPart(u.Object, "spec", "strategy", string(r.Style)))
	sub := mapPart(u.Object, "status", string(r.Style)+"Status")
	p.workload(workload, sub, r)
	p.batch(r, sub, list, l, now)
	return p.text.String(), nil
}

// phaseIcon is a sign for a phase.
func phaseIcon(phase string, l describeLook) string {
	switch phase {
	case "Healthy", "Running":
		return l.paint(green, "✔")
	case "Progressing", "Initial", "Pending":
		return l.paint(yellow, "⚠")
	}
	return l.paint(red, "✖")
}

const (
	red    = "31"
	green  = "32"
	yellow = "33"
)

func (l describeLook) paint(color, s string) string {
	if !l.color {
		return s
	}
	return safe.Paint(color, s)
}

// steps writes the steps, with the current one marked.
func (p *page) steps(r *release.Rollout, u *unstructured.Unstructured, l describeLook) {
	if len(r.Steps) == 0 {
		return
	}
	if r.Index > 0 {
		p.row(" Step", "%d/%d", r.Index, len(r.Steps))
	}
	p.text.WriteString(" Steps:\n")
	given, _ := mapPart(u.Object, "spec", "strategy", string(r.Style))["steps"].([]any)
	for i, s := range r.Steps {
		lines := []string{"  -  Replicas: " + s.Replicas, "     Traffic: " + s.Traffic}
		if m := stepMatches(given, i); len(m) > 0 {
			lines = append(append(lines, "     Matches: "), m...)
		}
		present := r.Index == i+1
		if present {
			lines = append(lines, "     State: "+r.State)
		}
		for _, line := range lines {
			if present {
				line = l.paint(green, line)
			}
			p.text.WriteString(line + "\n")
		}
	}
}

// stepMatches are the requests that one of the steps sends to the new pods.
func stepMatches(steps []any, i int) []string {
	if i >= len(steps) {
		return nil
	}
	var out []string
	step, _ := steps[i].(map[string]any)
	list, _ := step["matches"].([]any)
	for _, item := range list {
		m, _ := item.(map[string]any)
		for _, kind := range []string{"headers", "queryParams"} {
			entries, _ := m[kind].([]any)
			for _, e := range entries {
				h, _ := e.(map[string]any)
				out = append(out, fmt.Sprintf("      - Name: %s", stringPart(h, "name")), fmt.Sprintf("        Value: %s", stringPart(h, "value")), fmt.Sprintf("        Type: %s", cmp.Or(stringPart(h, "type"), "Exact")))
			}
		}
		if path, ok := m["path"].(map[string]any); ok {
			out = append(out, fmt.Sprintf("      - Path: %s", stringPart(path, "value")), fmt.Sprintf("        Type: %s", cmp.Or(stringPart(path, "type"), "PathPrefix")))
		}
	}
	return out
}

// routings writes what sends the traffic.
func (p *page) routings(strategy map[string]any) {
	list, _ := strategy["trafficRoutings"].([]any)
	ref, _ := strategy["trafficRoutingRef"].(string)
	if len(list) == 0 && ref == "" {
		return
	}
	p.text.WriteString("Traffic Routings:\n")
	if ref != "" {
		p.text.WriteString("  -  TrafficRouting: " + ref + "\n")
	}
	for _, item := range list {
		t, _ := item.(map[string]any)
		lines := []string{"Service: " + stringPart(t, "service")}
		if i := mapPart(t, "ingress"); i != nil {
			lines = append(lines, "Ingress: "+stringPart(i, "name"))
		}
		if g := mapPart(t, "gateway"); g != nil {
			lines = append(lines, "HTTPRoute: "+stringPart(g, "httpRouteName"))
		}
		networks, _ := t["customNetworkRefs"].([]any)
		for _, n := range networks {
			m, _ := n.(map[string]any)
			lines = append(lines, "CustomNetworkRef: "+stringPart(m, "kind")+"/"+stringPart(m, "name"))
		}
		p.text.WriteString("  -  " + strings.Join(lines, "\n     ") + "\n")
	}
}

// workload writes what runs, as far as the workload tells.
func (p *page) workload(w *unstructured.Unstructured, sub map[string]any, r *release.Rollout) {
	if w == nil {
		p.row("Workload", "%s cannot be read", r.Workload)
		return
	}
	p.row("Images", "%s", strings.Join(workloadImages(w), ", "))
	p.row("Current Revision", "%s", r.Stable)
	p.row("Update Revision", "%s", cmp.Or(stringPart(sub, "canaryRevision"), stringPart(sub, "updatedRevision"), stringPart(mapPart(w.Object, "status"), "updateRevision")))
	status := mapPart(w.Object, "status")
	number := func(of map[string]any, keys ...string) string {
		for _, k := range keys {
			if s := stringPart(of, k); s != "" {
				return s
			}
		}
		return "0"
	}
	p.text.WriteString("Replicas:\n")
	desired := number(status, "desiredNumberScheduled")
	if s := stringPart(mapPart(w.Object, "spec"), "replicas"); s != "" {
		desired = s
	}
	p.row(" Desired", "%s", desired)
	p.row(" Updated", "%s", number(status, "updatedReplicas", "updatedNumberScheduled"))
	p.row(" Current", "%s", number(status, "replicas", "currentNumberScheduled"))
	p.row(" Ready", "%s", number(status, "readyReplicas", "numberReady"))
	p.row(" Available", "%s", number(status, "availableReplicas", "numberAvailable"))
}

func workloadImages(w *unstructured.Unstructured) []string {
	var out []string
	for _, path := range stage.TemplatePaths(w.GroupVersionKind().Group, w.GetKind()) {
		containers, _ := mapPart(w.Object, append(strings.Split(path, "."), "spec")...)["containers"].([]any)
		for _, c := range containers {
			m, _ := c.(map[string]any)
			out = append(out, stringPart(m, "image"))
		}
	}
	return out
}

// batchLabel is on pods that a Rollout has brought out, with the number of the step.
const batchLabel = "rollouts.kruise.io/rollout-batch-id"

// batch writes the pods: those of the present step, or of all.
func (p *page) batch(r *release.Rollout, sub map[string]any, list []corev1.Pod, l describeLook, now time.Time) {
	hash := cmp.Or(stringPart(sub, "podTemplateHash"), r.Stable)
	var chosen []corev1.Pod
	for i := range list {
		at := resourcearg.PodRevision(&list[i])
		// The hash is the label, or the last part of it.
		of := hash != "" && (at == hash || strings.HasSuffix(at, "-"+hash))
		if of && (l.all || !r.Controls() || list[i].Labels[batchLabel] == strconv.Itoa(r.Index)) {
			chosen = append(chosen, list[i])
		}
	}
	slices.SortStableFunc(chosen, func(a, b corev1.Pod) int {
		return cmp.Or(batchOf(&a)-batchOf(&b), readiness(&b, now)-readiness(&a, now), strings.Compare(a.Name, b.Name))
	})
	rows := [][]string{{"NAME", "READY", "BATCH ID", "REVISION", "AGE", "RESTARTS", "STATUS"}}
	for i := range chosen {
		row := resourcearg.PodRowOf(&chosen[i], now)
		rows = append(rows, []string{row.Name, row.Ready, chosen[i].Labels[batchLabel], row.Revision, row.Age, row.Restarts, row.Status})
	}
	if len(chosen) > 0 {
		p.text.WriteString("\n" + alignColumns(rows))
	}
}

func batchOf(p *corev1.Pod) int {
	n := 0
	// Without a number it is of no batch.
	_, _ = fmt.Sscan(p.Labels[batchLabel], &n)
	return n
}

func readiness(p *corev1.Pod, now time.Time) int {
	if resourcearg.PodRowOf(p, now).IsReady {
		return 1
	}
	return 0
}

// mapPart is a map below an object, nil where there is none.
func mapPart(o map[string]any, path ...string) map[string]any {
	for _, key := range path {
		o, _ = o[key].(map[string]any)
	}
	return o
}

// stringPart is a value as text, "" where there is none.
func stringPart(o map[string]any, key string) string {
	switch v := o[key].(type) {
	case string, bool, int64, float64, int:
		return fmt.Sprint(v)
	}
	return ""
}
