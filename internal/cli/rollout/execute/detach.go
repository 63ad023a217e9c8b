package execute

import (
	"context"
	"fmt"
	"net/http"
	"reflect"
	"strings"

	"github.com/spf13/cobra"
	batchv1 "k8s.io/api/batch/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/command"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/rollout/runner"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/rollout/session"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/version"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/event"
	kubeobjects "github.com/kubectl-kruise/kubectl-kruise/pkg/apply/kube/objects"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/counted"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/redact"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// detaching are the flags of verbs that can have a Job carry a rollout out.
type detaching struct {
	On, Manifest bool
	image        string
	namespace    string
	account      string
	secret       string
}

// AddFlags adds them; manifest is for verbs that make a plan.
func (d *detaching) AddFlags(c *cobra.Command, to *notifications, manifest bool) {
	to.AddFlags(c)
	fl := c.Flags()
	fl.BoolVar(&d.On, "detach", false, "run the rollout in a Job in the cluster, and return at once (docs/detached.md)")
	fl.StringVar(&d.image, "runner-image", "", "image of the Job (default: the one of this version)")
	fl.StringVar(&d.namespace, "runner-namespace", runner.Namespace, "namespace of the Job")
	fl.StringVar(&d.account, "runner-account", runner.ServiceAccount, "ServiceAccount of the Job, which 'kubectl kruise rbac --runner' prints")
	fl.StringVar(&d.secret, "runner-notify-secret", "", "name of a Secret beside the Job, whose key \""+runner.SecretKey+"\" signs notifications")
	if manifest {
		fl.BoolVar(&d.Manifest, "manifest", false, "with --detach: print the Job and its plan, and create nothing")
	}
}

// notDetached are the flags that a Job has no use for, each with the reason.
var notDetached = []struct{ flag, why string }{
	{"verify-command", "the image of the Job has no programs; --verify-url, and Prometheus and Jobs of a strategy file, are asked from inside the cluster"},
	{"allow-commands", "the image of the Job has no programs"},
	{"write-back", "the Job has none of your files"},
	{"ui", "'kubectl kruise rollout attach' opens it"},
	{"exit-on-pause", "the Job waits for approvals, and the command returns without waiting for the Job"},
	{"success-on", "the Job waits for approvals, and the command returns without waiting for the Job"},
	{"output", "the Job reports the progress: 'kubectl kruise rollout logs'"},
	{"no-wait", "--detach returns at once"},
	{"notify-secret-file", "the Job has none of your files: --runner-notify-secret names a Secret beside it"},
}

// Detachable checks the flags: what a Job cannot do is refused before a plan is made.
func (d *Flags) Detachable(c *cobra.Command) error {
	if err := d.Notifications.Check(); err != nil {
		return err
	}
	if !d.Detach.On {
		for _, flag := range []string{"manifest", "runner-image", "runner-namespace", "runner-account", "runner-notify-secret"} {
			if f := c.Flags().Lookup(flag); f != nil && f.Changed {
				return command.Usagef("add --detach", "--%s is for a rollout that a Job carries out", flag)
			}
		}
		return nil
	}
	for _, not := range notDetached {
		if f := c.Flags().Lookup(not.flag); f != nil && f.Changed {
			return command.Usagef(not.why, "--%s does not go with --detach", not.flag)
		}
	}
	if d.Detach.image == "" {
		if d.Detach.image = runner.Image(version.Get().Version); d.Detach.image == "" {
			return command.Usagef("name one with --runner-image", "this build was not released, so there is no image of its version")
		}
	}
	return nil
}

// RefuseDetach refuses --detach for several workloads, which one process carries out in their order.
func (d *Flags) RefuseDetach() error {
	if !d.Detach.On {
		return nil
	}
	return command.Usagef("name one workload", "--detach is for the rollout of one workload")
}

// RunnerJobs are the Jobs of --detach, see [Execution.Jobs].
type RunnerJobs struct{ *Execution }

// Jobs makes the Jobs of --detach, as the flags of a verb say.
func (d *Execution) Jobs() RunnerJobs { return RunnerJobs{d} }

// spec is what the flags say of the Job of a rollout.
func (d RunnerJobs) spec(ctx context.Context, of *plan.Rollout) (out runner.Spec, err error) {
	plans := of.Plans()
	for i := range plans {
		if list := plans[i].Commands(0); len(list) > 0 {
			return out, &resource.Error{
				Err:  fmt.Errorf("the plan of %s runs commands, and the image of the Job has no programs:\n  %s", plans[i].Target.Ref(), strings.Join(list, "\n  ")),
				Hint: "verify by --verify-url, or by Prometheus or a Job in a strategy file; or leave --detach out",
			}
		}
	}
	identities, err := d.ClusterIdentities(ctx)
	if err != nil {
		return out, err
	}
	if !strings.HasPrefix(identities[0], "uid:") {
		_, _ = fmt.Fprintln(d.Factory.Streams.Err, "warning: you may not read the namespace kube-system, which identifies the cluster: the Job recognizes the plan only if the cluster's own certificate authority is that of your kubeconfig")
	}
	out = runner.Spec{
		Image: d.Detach.image, Namespace: d.Detach.namespace, Account: d.Detach.account, Workload: runner.GroupRef(of.Namespace, of.Name),
		Digest: of.Digest(identities[0]), Deadline: d.Timeout, NotifySecret: d.Detach.secret, Listen: d.Notifications.Listen, Args: d.runnerArgs(),
	}
	if of.Name == "" {
		typed, err := session.NameOf(plans[0].Target)
		if err != nil {
			return out, err
		}
		out.Workload, out.BackTo = of.Members[0].Ref, plans[0].Change.FromHash
		out.Type, _, _ = strings.Cut(typed.String(), "/")
	}
	if out.Workload.Namespace != "" && out.Workload.Namespace == out.Namespace {
		_, _ = fmt.Fprintf(d.Factory.Streams.Err, "warning: everybody who may create pods in namespace %s can use the ServiceAccount %s there, and with it all its rights\n", out.Namespace, out.Account)
	}
	if d.Timeout == 0 {
		out.Deadline = runner.Deadline(plans)
	}
	return out, nil
}

// runnerArgs are the flags that the runner has in common with this command.
func (d RunnerJobs) runnerArgs() []string {
	var out []string
	for _, hook := range d.Notifications.URLs {
		out = append(out, "--notify="+hook)
	}
	if d.StateNamespace != runner.Namespace {
		out = append(out, "--state-namespace="+d.StateNamespace)
	}
	if d.Authority.Asks.LinkLocal {
		out = append(out, "--allow-link-local")
	}
	if d.Manager != "" && d.Manager != session.FieldManager {
		out = append(out, "--field-manager="+d.Manager)
	}
	return out
}

// Begin records a rollout and has a Job carry it out. Rollouts in progress that the user has not
// approved are refused: the digest would approve them.
func (d RunnerJobs) Begin(ctx context.Context, r *Rolling) error {
	for _, m := range r.Members {
		if !m.begun {
			continue
		}
		known, err := d.Approvals().Approved(ctx, m.Plan)
		if err != nil {
			return err
		}
		if !known {
			return &resource.Error{
				Err:  fmt.Errorf("the rollout of %s is in progress, and its plan was not approved on this machine", m.Ref()),
				Hint: "'kubectl kruise rollout resume' carries it out by itself",
			}
		}
	}
	return d.Around(ctx, &r.Record, func() error { return d.record(ctx, r) })
}

// Around does something between the two requests for the Job of a rollout: what the server would
// refuse of it is known before anything is written.
func (d RunnerJobs) Around(ctx context.Context, of *plan.Rollout, do func() error, changes ...func(*runner.Spec)) error {
	spec, err := d.spec(ctx, of)
	if err != nil {
		return err
	}
	for _, change := range changes {
		change(&spec)
	}
	if err := d.create(ctx, spec, true); err != nil {
		return err
	}
	if err := do(); err != nil {
		return err
	}
	return d.create(ctx, spec, false)
}

// record records a rollout for another process to carry out.
func (d RunnerJobs) record(ctx context.Context, r *Rolling) error {
	if r.isAlone() {
		rollouts, err := d.Rollouts()
		if err != nil {
			return err
		}
		e, err := rollouts.Begin(ctx, r.Members[0].Session, r.Members[0].Plan)
		if err != nil {
			return session.WithHint(err)
		}
		e.Release()
		return nil
	}
	known := &session.Approvals{Client: d.Client, Group: true}
	if err := known.ApproveGroup(ctx, &r.Record, r.unbegun()); err != nil {
		return err
	}
	groups, err := d.Groups(known, nil)
	if err != nil {
		return err
	}
	return GroupHinted(r.Record.Name, groups.Record(ctx, r.Record))
}

// create creates the Job, or asks the server whether it would.
func (d RunnerJobs) create(ctx context.Context, spec runner.Spec, dry bool) error {
	client, err := d.Clientset()
	if err != nil {
		return err
	}
	opt := metav1.CreateOptions{FieldManager: session.FieldManager, FieldValidation: metav1.FieldValidationStrict}
	if dry {
		opt.DryRun = []string{metav1.DryRunAll}
		if err := present(ctx, client, spec); err != nil {
			return err
		}
	}
	job, err := client.BatchV1().Jobs(spec.Namespace).Create(ctx, runner.Job(spec), opt)
	switch {
	case err == nil && dry:
		return nil
	case err != nil && dry:
		return fmt.Errorf("the Job that would carry it out: %w", err)
	case err != nil:
		return &resource.Error{
			Err:  fmt.Errorf("the plan is recorded, but the Job that would carry it out was not created: %w", err),
			Hint: "'" + runnerCommand(spec, "resume") + " --detach' tries again; without --detach it is carried out here",
		}
	}
	streams := d.Factory.Streams
	follows := fmt.Sprintf("'%s --watch' follows it", runnerCommand(spec, "status"))
	if spec.Type != "" {
		follows = fmt.Sprintf("'%s --watch' and '%s' follow it", runnerCommand(spec, "status"), runnerCommand(spec, "attach"))
	}
	_, _ = fmt.Fprintln(streams.Err, d.Factory.Copyable(fmt.Sprintf("a Job carries it out: %s, '%s' prints its log", follows, runnerCommand(spec, "logs"))))
	_, err = fmt.Fprintf(streams.Out, "job.batch/%s created in namespace %s\n", job.Name, job.Namespace)
	return err
}

// present reports what a Job needs and a server does not miss when it is created: without its
// ServiceAccount it would never have a pod.
func present(ctx context.Context, client kubernetes.Interface, spec runner.Spec) error {
	_, err := client.CoreV1().ServiceAccounts(spec.Namespace).Get(ctx, spec.Account, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return &resource.Error{
			Err:  fmt.Errorf("namespace %s has no ServiceAccount %s, whose rights the Job would have", spec.Namespace, spec.Account),
			Hint: "'kubectl kruise rbac --runner | kubectl apply -f -' creates it with its roles",
		}
	}
	return nil // who may not read it finds out later
}

// runnerCommand is the command line of a verb for what a runner carries out.
func runnerCommand(spec runner.Spec, verb string) string {
	line := "kubectl kruise rollout " + verb + " "
	if spec.Type == "" {
		line += "--group " + spec.Workload.Name
	} else {
		line += spec.Type + "/" + spec.Workload.Name
	}
	if spec.Workload.Namespace != "" {
		line += " -n " + spec.Workload.Namespace
	}
	return line
}

// preview shows the request that creates the Job of a rollout.
func (d RunnerJobs) preview(ctx context.Context, r *Rolling) error {
	if !d.Detach.On {
		return nil
	}
	spec, err := d.spec(ctx, &r.Record)
	if err != nil {
		return err
	}
	job, err := runtime.DefaultUnstructuredConverter.ToUnstructured(runner.Job(spec))
	if err != nil {
		return err
	}
	return d.ShowRequests(ctx, []event.Request{{
		Method: http.MethodPost, Path: kubeobjects.Path(batchv1.SchemeGroupVersion.WithResource("jobs"), spec.Namespace, ""),
		ContentType: runtime.ContentTypeJSON, Why: "the Job that sends all others", Body: job,
	}})
}

// mostManifest is how many bytes the plans of a rollout may take in a ConfigMap.
const mostManifest = 900 << 10

// printManifest prints what --detach would create, so that it can be kept in Git. The plans are
// in it, since no record has them.
func (d RunnerJobs) printManifest(ctx context.Context, r *Rolling) error {
	spec, err := d.spec(ctx, &r.Record)
	if err != nil {
		return err
	}
	for _, m := range r.Members {
		if m.begun {
			return &resource.Error{
				Err:  fmt.Errorf("the rollout of %s is in progress, and a manifest is for rollouts that have not started", m.Ref()),
				Hint: "'kubectl kruise rollout run' without --manifest continues it",
			}
		}
		if err := noSecretIn(&m.Plan); err != nil {
			return fmt.Errorf("%s: %w", m.Ref(), err)
		}
	}
	if spec.Plan, err = writeRollout(&r.Record); err != nil {
		return err
	}
	if len(spec.Plan) > mostManifest {
		return &resource.Error{
			Err:  fmt.Errorf("the plans of %s take %d KiB of the %d that a ConfigMap may hold", counted.Of(len(r.Members), "rollout"), len(spec.Plan)>>10, mostManifest>>10),
			Hint: "make several groups, or leave --manifest out: the record is compressed",
		}
	}
	what := "plan"
	if r.Record.Name != "" {
		what = "group " + r.Record.Name
	}
	_, _ = fmt.Fprintf(d.Factory.Streams.Err, "%s: %s\n", what, spec.Digest)
	return d.printJob(spec)
}

// printJob prints a Job and the ConfigMap with its plan.
func (d RunnerJobs) printJob(spec runner.Spec) error {
	streams := d.Factory.Streams
	_, _ = fmt.Fprintln(streams.Err, d.Factory.Copyable(fmt.Sprintf("it needs the ServiceAccount %s in namespace %s: 'kubectl kruise rbac --runner | kubectl apply -f -' creates it", spec.Account, spec.Namespace)))
	for i, object := range []any{runner.PlanMap(spec), runner.Job(spec)} {
		text, err := yaml.Marshal(object)
		if err != nil {
			return err
		}
		if i > 0 {
			text = append([]byte("---\n"), text...)
		}
		if _, err := streams.Out.Write(text); err != nil {
			return err
		}
	}
	return nil
}

// noSecretIn refuses a plan that a manifest would show and no output may.
func noSecretIn(p *plan.Plan) error {
	step := secretIn(p)
	if step == "" {
		return nil
	}
	return &resource.Error{
		Err:  fmt.Errorf("step %s writes or asks something that looks secret, which the manifest would show", step),
		Hint: "refer to a Secret in the template; or write the template first, as a GitOps controller does, and make a plan that moves the partition",
	}
}

// secretIn names the first step that has a value which no output shows; "" for none.
func secretIn(p *plan.Plan) string {
	for i := range p.Steps {
		step := &p.Steps[i]
		for _, patch := range step.Patches {
			if !reflect.DeepEqual(p.Masked(patch), patch.Body) {
				return step.Name
			}
		}
		v := step.Verify
		if v == nil {
			continue
		}
		asked := map[string]any{"url": v.URL, "prometheus": v.Prometheus}
		if v.Job != nil {
			asked["job"] = v.Job
		}
		if !reflect.DeepEqual(redact.Value([]string{"verify"}, asked, nil), any(asked)) {
			return step.Name
		}
	}
	return ""
}
