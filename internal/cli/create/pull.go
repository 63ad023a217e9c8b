package create

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/clusterread"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/command"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/factory"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/resourcearg"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/submit"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/kube"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/counted"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

const pullLong = `Pull an image onto nodes before pods need it: the nodes of a workload's pods, nodes with
labels, or all nodes. With Kruise an ImagePullJob does it; without, a Job for each node
mounts the image as a volume, and nothing in the image runs.

The Secrets for pulling are those of --pull-secret, of the workload's pods and template,
and of its service account; without a workload, of the service account default.

Nodes that fail are named with the reason, and the exit code is 3. Ctrl-C and --timeout
only end the waiting: the same command finds the running pull again. The objects are
deleted ten minutes after the pull has finished.`

const pullExample = `  # onto the nodes of a workload's pods, with the pull secrets of these pods
  kubectl kruise pull registry.example.com/web:2 cloneset/web

  # onto all nodes of a pool, 20 at a time
  kubectl kruise pull registry.example.com/model:7 --node-selector pool=gpu --parallel 20 --pull-secret registry`

type pullOptions struct {
	factory *factory.Factory

	image    string
	name     *resourcearg.Name
	nodes    string
	secrets  []string
	parallel int
	helper   string
	timeout  time.Duration
	output   string
	pretends submit.DryRunFlag
}

var pullOutputs = []string{"text", "json"}

// NewPull returns the verb.
func NewPull(f *factory.Factory) *cobra.Command {
	o := &pullOptions{factory: f}
	c := &cobra.Command{
		Use: "pull IMAGE [TYPE/NAME | --node-selector SELECTOR]", Short: "Pull an image onto nodes", Long: pullLong, Example: pullExample, ValidArgsFunction: resourcearg.CompleteNamesAfterFirst(f),
		RunE: func(c *cobra.Command, args []string) error {
			if err := errors.Join(o.pretends.Read(c), o.complete(args)); err != nil {
				return err
			}
			return o.run(c.Context())
		},
	}
	fl := c.Flags()
	fl.StringVar(&o.nodes, "node-selector", "", "label selector of the nodes (default: those of the workload, else all)")
	fl.StringSliceVar(&o.secrets, "pull-secret", nil, "Secret for pulling the image, in the namespace of -n; can be repeated")
	fl.IntVar(&o.parallel, "parallel", 0, "number of nodes that pull at the same time (default 10)")
	fl.StringVar(&o.helper, "helper-image", kruise.PullHelperImage, "image of the pods that pull, on clusters without Kruise")
	fl.DurationVar(&o.timeout, "timeout", 0, "how long to wait; 0 means no timeout")
	fl.StringVarP(&o.output, "output", "o", pullOutputs[0], "output format: text, or json (one line for each change of a node)")
	o.pretends.AddFlag(c)
	command.Offer(c, "output", pullOutputs...)
	return c
}

func (o *pullOptions) complete(args []string) error {
	switch {
	case len(args) == 0 || len(args) > 2:
		return command.Usagef("for instance: 'kubectl kruise pull registry.example.com/web:2 cloneset/web'", "one image, and at most one workload, are wanted")
	case len(args) == 2 && o.nodes != "":
		return command.Usagef("name a workload, or choose nodes by --node-selector", "%s and --node-selector do not go together", args[1])
	case o.parallel < 0:
		return command.Usagef("", "--parallel: %d nodes at a time are too few", o.parallel)
	case o.timeout < 0:
		return command.Usagef("", "--timeout: %s is in the past", o.timeout)
	case !slices.Contains(pullOutputs, o.output):
		return command.Usagef("one of: text, json", "--output: unknown value %q", o.output)
	}
	if err := kruise.CheckImage(args[0]); err != nil {
		return command.Usagef("for instance registry.example.com/web:2", "%q is not an image: %w", args[0], err)
	}
	o.image = args[0]
	if len(args) == 2 {
		n, err := resourcearg.Parse(args[1])
		o.name = &n
		return err
	}
	return nil
}

// run finds the nodes and waits for the pull.
func (o *pullOptions) run(ctx context.Context) error {
	p, err := o.findNodes(ctx)
	if err != nil {
		return err
	}
	cfg, err := o.factory.Config()
	if err != nil {
		return err
	}
	if o.pretends.Only() {
		return o.pretend(ctx, cfg, p)
	}
	if o.timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, o.timeout)
		defer cancel()
	}
	work := o.factory.Working("pulling images onto nodes")
	states, err := kube.PullImage(ctx, cfg, p, o.printNode)
	work.Stop()
	if err != nil && (ctx.Err() == nil || states == nil) {
		return err
	}
	failed := o.printOutcome(states)
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return command.ErrTimedOut
	case ctx.Err() != nil:
		return command.ErrInterrupted
	}
	return failed
}

// pretend shows what would be created.
func (o *pullOptions) pretend(ctx context.Context, cfg *rest.Config, p kube.ImagePull) error {
	list, err := kube.PullRequests(ctx, cfg, p)
	if err != nil {
		return err
	}
	if len(list) == 0 {
		_, err := fmt.Fprintln(o.factory.Streams.Err, "the same pull is in progress: nothing would be created")
		return err
	}
	return o.pretends.Show(ctx, o.factory.Streams.Out, cfg, submit.Requests{JSON: o.output == "json", List: list})
}

// pullLine is one change of a node as JSON.
type pullLine struct {
	Time  time.Time `json:"time"`
	Node  string    `json:"node"`
	Image string    `json:"image"`
	State string    `json:"state"`
	Why   string    `json:"why,omitempty"`
}

// printNode prints the state of one node.
func (o *pullOptions) printNode(n kube.NodePull) {
	now, out := time.Now(), o.factory.Streams.Out
	if o.output == "json" {
		_ = json.NewEncoder(out).Encode(pullLine{now.UTC(), n.Node, o.image, phaseWord(n.Phase), n.Why}) // a reader that has gone is no matter to the pull
		return
	}
	_, _ = fmt.Fprintln(out, now.Format(time.TimeOnly)+"\t"+n.Node+"\t"+strings.TrimSuffix(phaseWord(n.Phase)+": "+n.Why, ": "))
}

func phaseWord(p kruise.ImagePullPhase) string {
	if p == kruise.ImagePhaseSucceeded {
		return "pulled"
	}
	return strings.ToLower(string(p))
}

// printOutcome says in one line how it ended; nodes that failed are an error.
func (o *pullOptions) printOutcome(states []kube.NodePull) error {
	var failed []string
	pulled := 0
	for _, n := range states {
		switch n.Phase {
		case kruise.ImagePhaseSucceeded:
			pulled++
		case kruise.ImagePhaseFailed:
			failed = append(failed, n.Node)
		}
	}
	text := fmt.Sprintf("%s is on %d of %s", o.image, pulled, counted.Of(len(states), "node"))
	if len(failed) > 0 {
		text += "; failed on " + strings.Join(failed, ", ")
	}
	if _, err := fmt.Fprintln(o.factory.Streams.Err, text); err != nil {
		return err
	}
	if len(failed) > 0 {
		return command.ErrFailed
	}
	return nil
}

// findNodes returns the nodes, and the secrets of pods.
func (o *pullOptions) findNodes(ctx context.Context) (kube.ImagePull, error) {
	namespace, err := o.factory.NamespaceOrDefault()
	if err != nil {
		return kube.ImagePull{}, err
	}
	p := kube.ImagePull{Image: o.image, Namespace: namespace, Secrets: o.secrets, Parallel: o.parallel, HelperImage: o.helper}
	if o.name != nil {
		err = o.ofPods(ctx, &p)
	} else if p.Nodes, err = o.byLabels(ctx); err == nil {
		err = o.addSecrets(ctx, &p, nil)
	}
	if err == nil && len(p.Nodes) == 0 {
		err = &resource.Error{Err: fmt.Errorf("there is no node to pull %s on", o.image), Hint: "see 'kubectl get nodes', or 'kubectl get pods -o wide' of the workload"}
	}
	return p, err
}

// ofPods takes the nodes that a workload's pods are on, and the pull secrets of these
// pods and of those to come.
func (o *pullOptions) ofPods(ctx context.Context, p *kube.ImagePull) error {
	client, err := o.factory.Dynamic()
	if err != nil {
		return err
	}
	found, err := clusterread.ReadWorkload(ctx, client, *o.name, p.Namespace)
	if err != nil {
		return err
	}
	for _, pod := range found.State.Pods {
		if pod.Node != "" && rules.Active(pod) {
			p.Nodes = append(p.Nodes, pod.Node)
		}
	}
	if found.Ref.Namespace == "" {
		return nil // the pods of a SidecarSet have secrets in many namespaces
	}
	template, _ := tree.Value(tree.Get(found.Object.Node(), "spec", "template")).(map[string]any)
	if err := o.addSecrets(ctx, p, template); err != nil || len(found.State.Pods) == 0 {
		return err
	}
	secrets, err := pullSecretsOf(ctx, client, found.State.Pods[0])
	addSecrets(p, secrets)
	return err
}

// addSecrets adds those that a pod of a template gets; nil is a pod that says nothing.
func (o *pullOptions) addSecrets(ctx context.Context, p *kube.ImagePull, template map[string]any) error {
	cfg, err := o.factory.Config()
	if err != nil {
		return err
	}
	client, err := kubernetes.NewForConfig(cfg)
	if err != nil {
		return err
	}
	secrets, err := kube.TemplateSecrets(ctx, client, p.Namespace, template)
	if err != nil {
		_, err = fmt.Fprintf(o.factory.Streams.Err, "warning: %v\n", err)
	}
	addSecrets(p, secrets)
	return err
}

func addSecrets(p *kube.ImagePull, secrets []string) {
	for _, name := range secrets {
		if !slices.Contains(p.Secrets, name) {
			p.Secrets = append(p.Secrets, name)
		}
	}
}

// pullSecretsOf are the names of a pod's pull secrets; its service account's are among
// them.
func pullSecretsOf(ctx context.Context, client dynamic.Interface, pod *cluster.Pod) ([]string, error) {
	o, err := client.Resource(schema.GroupVersionResource{Version: "v1", Resource: "pods"}).Namespace(pod.Namespace).Get(ctx, pod.Name, metav1.GetOptions{})
	if err != nil {
		return nil, fmt.Errorf("cannot read pod %s: %w", pod.Name, err)
	}
	var out []string
	for _, s := range tree.Items(tree.Get(tree.FromValue(o.Object), "spec", "imagePullSecrets")) {
		out = append(out, tree.StrAt(s, "name"))
	}
	return out, nil
}

// byLabels takes the nodes that a selector matches, all by default.
func (o *pullOptions) byLabels(ctx context.Context) ([]string, error) {
	if _, err := labels.Parse(o.nodes); err != nil {
		return nil, command.Usagef("for instance pool=gpu,zone!=b", "--node-selector: %w", err)
	}
	client, err := o.factory.Dynamic()
	if err != nil {
		return nil, err
	}
	var out []string
	nodes, err := clusterread.List(ctx, client, schema.GroupVersionResource{Version: "v1", Resource: "nodes"}, "", o.nodes)
	for i := range nodes {
		out = append(out, nodes[i].GetName())
	}
	return out, err
}
