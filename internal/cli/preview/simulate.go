package preview

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/command"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/factory"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/planning"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/resourcearg"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/version"
	"github.com/kubectl-kruise/kubectl-kruise/internal/text"
	"github.com/kubectl-kruise/kubectl-kruise/internal/view"
	"github.com/kubectl-kruise/kubectl-kruise/internal/view/html"
	"github.com/kubectl-kruise/kubectl-kruise/internal/view/svg"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/counted"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
	engine "github.com/kubectl-kruise/kubectl-kruise/pkg/plan/simulate"
)

const simulateLong = `Simulate a plan against a model of the cluster and print what happens, pod by pod,
with a summary at the end. Nothing is sent to a cluster.

PLAN is a file that 'plan' wrote; or give the change as for 'plan'. The simulation
starts from the current state of the cluster or, with --against FILE, from that of a
file; pods are made up unless --with has them. The same seed gives the same run.`

const simulateExample = `  # what a plan will do, line by line
  kubectl kruise simulate plan.yaml

  # slow pods, slow pulls, and the third pod never becomes ready
  kubectl kruise simulate plan.yaml --pod-ready 20s±5s --pull 30s --fail-pod 3

  # before there is any cluster: 200 pods under a budget, as a picture
  kubectl kruise simulate --against web.yaml --image app=web:2 --pods 200 --pub 20% -o svg > run.svg

  # the same as a page for any browser, to step through the simulated time
  kubectl kruise simulate plan.yaml -o html > run.html`

type simulateOptions struct {
	factory *factory.Factory
	planning.Options
	whatIf

	output  string
	verbose bool
	plan    string
}

var simulateOutputs = []string{"lines", "table", "json", "svg", "html", "summary"}

// NewSimulate returns the verb.
func NewSimulate(f *factory.Factory) *cobra.Command {
	o := &simulateOptions{factory: f, Options: planning.Options{Maker: planning.Maker{Factory: f}, Preview: true}}
	c := &cobra.Command{
		Use:     "simulate (PLAN | [TYPE/NAME] --image CONTAINER=IMAGE | -f FILE | -k DIR)",
		Short:   "Simulate a plan in a model of the cluster",
		Long:    simulateLong,
		Example: simulateExample,
		RunE:    completeAndRun(o.complete, o.run),
	}
	o.AddFlags(c)
	o.addWhatIfs(c)
	c.Flags().StringVarP(&o.output, "output", "o", simulateOutputs[0], "output format: "+strings.Join(simulateOutputs, ", "))
	c.Flags().BoolVarP(&o.verbose, "verbose", "v", false, "show every pod and what happens inside it")
	command.Offer(c, "output", simulateOutputs...)
	return c
}

func (o *simulateOptions) complete(args []string) error {
	if err := command.OneOf("output", o.output, simulateOutputs...); err != nil {
		return err
	}
	if err := o.parse(); err != nil {
		return err
	}
	o.Nodes = o.nodes
	if len(args) == 1 {
		if name, ok := resourcearg.ParseUnited(args[0]); ok {
			return command.Usagef("'kubectl kruise plan uniteddeployment/"+name+" --image CONTAINER=IMAGE' simulates the plan of each subset", "one simulation is for one workload, and a UnitedDeployment has one for each subset")
		}
	}
	if len(args) == 1 && planning.IsPlan(args[0]) {
		o.plan = args[0]
		return o.CompletePlan()
	}
	return o.Complete(args)
}

func (o *simulateOptions) run(ctx context.Context) error {
	work := o.factory.Working("simulating")
	defer work.Stop()
	m, err := o.make(ctx)
	if err != nil {
		return err
	}
	if most, pods := slices.Max(append([]int{0}, o.fail...)), m.Plan.Limits.Replicas; most > pods {
		return command.Usagef("1 is the first pod that is updated", "--fail-pod: %d, of %s", most, counted.Of(pods, "pod"))
	}
	settings := m.Assumed()
	settings.Seed, settings.Progress = o.seed, work.Of(m.Plan.Limits.Replicas, "pod").Progress()
	o.apply(m, &settings)
	drive := planning.Promoted()
	if o.stopAtPause {
		drive.Promote = nil
	}
	line, err := m.Run(settings, drive)
	if err != nil {
		return err
	}
	m.Plan = m.Plan.WithTouches(line.Touches)
	w := text.Buffered(o.factory.Streams.Out)
	if err := o.write(w, m, line); err != nil {
		return err
	}
	if err := w.Flush(); err != nil {
		return err
	}
	return outcomeOf(&m.Plan, line.Summary)
}

func (o *simulateOptions) make(ctx context.Context) (*planning.Made, error) {
	if o.plan != "" {
		return o.Load(ctx, o.plan)
	}
	return o.Draft(ctx)
}

func (o *simulateOptions) write(w io.Writer, m *planning.Made, line engine.Timeline) error {
	st := o.factory.OutStyle(o.verbose)
	switch o.output {
	case "table":
		return view.TimelineTable(w, line, st)
	case "json":
		return view.TimelineJSON(w, line)
	case "svg":
		return svg.Draw(w, view.NewPlanPage(m.Plan, &line).Picture())
	case "html":
		about := html.About{Version: version.Get().Version}
		if !o.FromFiles() {
			about.At = m.At
		}
		return html.Run(w, view.NewPlanPage(m.Plan, &line).Place(m.Snapshot.Pods), about)
	case "summary":
		return view.Outcome(w, line.Summary, st)
	}
	if err := view.Timeline(w, line, st); err != nil {
		return err
	}
	if _, err := fmt.Fprintln(w); err != nil {
		return err
	}
	return view.Outcome(w, line.Summary, st)
}

// outcomeOf is the error of a run that comes to no good end.
func outcomeOf(p *plan.Plan, s engine.Summary) error {
	if s.Outcome != engine.Failed && s.Outcome != engine.Blocked {
		return nil
	}
	err := errors.New("the simulated rollout " + view.OutcomeText(s))
	if p.Paused {
		err = fmt.Errorf("%w: %w", err, planning.Paused(p))
	}
	return &command.FailedError{Err: err}
}

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
