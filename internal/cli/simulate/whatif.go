package simulate

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/command"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/planning"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
	engine "github.com/kubectl-kruise/kubectl-kruise/pkg/plan/simulate"
)

// whatIf are the flags that make the model cluster another than the usual one.
type whatIf struct {
	podReady, pull, stop string
	fail                 []int
	nodes                int
	pub                  string
	seed                 uint64
	stopAtPause          bool

	ready, pulling, stopping *engine.Span
	budget                   *intstr.IntOrString
}

func (f *whatIf) addWhatIfs(c *cobra.Command) {
	fl := c.Flags()
	fl.StringVar(&f.podReady, "pod-ready", "", "time until a container is ready, 20s or 20s±5s")
	fl.StringVar(&f.pull, "pull", "", "time to pull an image on a node, 30s or 30s±10s")
	fl.StringVar(&f.stop, "pod-stop", "", "termination time of a deleted pod")
	fl.IntSliceVar(&f.fail, "fail-pod", nil, "number of the updated pod that never becomes ready")
	fl.IntVar(&f.nodes, "nodes", 0, "number of nodes to simulate")
	fl.StringVar(&f.pub, "pub", "", "maxUnavailable of an assumed PodUnavailableBudget, 2 or 20%")
	fl.Uint64Var(&f.seed, "seed", 1, "seed for random choices")
	fl.BoolVar(&f.stopAtPause, "stop-at-pause", false, "stop at the first pause that waits for approval, instead of promoting it")
}

// parse reads the values. Errors are of usage.
func (f *whatIf) parse() error {
	for _, span := range []struct {
		name, text string
		into       **engine.Span
	}{{"pod-ready", f.podReady, &f.ready}, {"pull", f.pull, &f.pulling}, {"pod-stop", f.stop, &f.stopping}} {
		if span.text == "" {
			continue
		}
		s, err := engine.ParseSpan(span.text)
		if err != nil {
			return command.Usagef("", "--%s: %w", span.name, err)
		}
		*span.into = &s
	}
	for _, n := range f.fail {
		if n < 1 {
			return command.Usagef("1 is the first pod that is updated", "--fail-pod: %d is not a number of a pod", n)
		}
	}
	if f.nodes < 0 || f.nodes > engine.MostPods {
		return command.Usagef("", "--nodes: %d is not a number of nodes", f.nodes)
	}
	return f.parseBudget()
}

func (f *whatIf) parseBudget() error {
	if f.pub == "" {
		return nil
	}
	v := intstr.Parse(f.pub)
	number, percent := strings.CutSuffix(f.pub, "%")
	if n, err := strconv.Atoi(number); err != nil || n < 0 || percent && n > 100 {
		return command.Usagef("a number of pods, or a percentage of them", "--pub: %q is neither", f.pub)
	}
	f.budget = &v
	return nil
}

// apply changes the model cluster.
func (f *whatIf) apply(m *planning.Made, o *engine.Options) {
	o.Fail = f.fail
	for _, span := range []struct{ from, into *engine.Span }{{f.ready, &o.Agent.Ready}, {f.pulling, &o.Agent.Pull}, {f.stopping, &o.Agent.Stop}} {
		if span.from != nil {
			*span.into = *span.from
		}
	}
	if f.budget != nil {
		o.GuardUpdates = true
		m.Snapshot.Budgets = append(slices.Clip(m.Snapshot.Budgets), f.guard(m.Snapshot.Workload))
	}
	f.moreNodes(m)
}

// guard is a budget over all pods of the workload.
func (f *whatIf) guard(w *cluster.Workload) *rules.Budget {
	template, _ := w.Template["metadata"].(map[string]any)
	labels, _ := template["labels"].(map[string]any)
	selector := &metav1.LabelSelector{MatchLabels: map[string]string{}}
	for k, v := range labels {
		if text, ok := v.(string); ok {
			selector.MatchLabels[k] = text
		}
	}
	return &rules.Budget{Name: "what-if", Spec: &kruise.PodUnavailableBudgetSpec{Selector: selector, MaxUnavailable: f.budget}}
}

// moreNodes adds nodes to a cluster that has fewer.
func (f *whatIf) moreNodes(m *planning.Made) {
	if len(m.Snapshot.Nodes) >= f.nodes {
		return
	}
	nodes := make(map[string]*cluster.Node, f.nodes)
	maps.Copy(nodes, m.Snapshot.Nodes)
	for i := 1; len(nodes) < f.nodes; i++ {
		name := "more-" + strconv.Itoa(i)
		if nodes[name] == nil {
			nodes[name] = &cluster.Node{Name: name}
		}
	}
	m.Snapshot.Nodes = nodes
}
