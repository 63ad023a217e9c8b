package inspect

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	cmdutil "k8s.io/kubectl/pkg/cmd/util"
	"k8s.io/kubectl/pkg/util/completion"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/command"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/factory"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/kubectl"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/resourcearg"
	safe "github.com/kubectl-kruise/kubectl-kruise/internal/text"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/kube/release"
)

type rollout struct {
	factory *factory.Factory
	kubectl cmdutil.Factory

	watch, plain, all bool
	timeout           secondsValue
}

func newRollout(f *factory.Factory) *cobra.Command {
	o := &rollout{factory: f, kubectl: kubectl.Factory(f)}
	c := &cobra.Command{
		Use: "rollout NAME …", Aliases: []string{"rollouts", "ro"}, Short: "Show objects of Kruise Rollout with their steps and pods",
		Long: `Show objects of Kruise Rollout: their status, their steps with the current one marked, the
objects that route traffic, and the pods of the current batch.`,
		Example: "  kubectl kruise describe rollout web\n\n  # redrawn when it changes, for 10 minutes at most\n  kubectl kruise describe rollout web -w --timeout 600",
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) != 1 && o.watch || len(args) == 0 {
				return command.Usagef("'kubectl kruise get rollouts.rollouts.kruise.io' lists them", "give the name of a Rollout")
			}
			return o.run(c.Context(), args)
		},
		ValidArgsFunction: completion.ResourceNameCompletionFunc(o.kubectl, "rollouts."+release.Group),
	}
	fl := c.Flags()
	fl.BoolVarP(&o.watch, "watch", "w", false, "watch for changes and redraw")
	fl.BoolVar(&o.plain, "no-color", false, "disable colors, as --color never does")
	fl.Var(&o.timeout, "timeout", "with --watch: seconds to watch; 0 means no timeout")
	fl.BoolVar(&o.all, "all", false, "show the pods of all batches")
	return c
}

func (o *rollout) run(ctx context.Context, names []string) error {
	client, namespace, err := o.factory.InNamespace()
	if err != nil {
		return err
	}
	cfg, err := o.factory.Config()
	if err != nil {
		return err
	}
	typed, err := kubernetes.NewForConfig(cfg)
	if err != nil {
		return err
	}
	s := &rolloutScene{rollout: o, client: client, typed: typed, find: &resourcearg.Finder{Factory: o.kubectl, Namespace: namespace}, out: o.factory.Streams.Out}
	for i, name := range names {
		r, err := release.Get(ctx, client, namespace, name)
		if err != nil {
			return err
		}
		if o.watch {
			return s.follow(ctx, r)
		}
		if i > 0 {
			_, _ = fmt.Fprintln(s.out) // a reader that has gone is reported below
		}
		if err := s.draw(ctx, r); err != nil {
			return err
		}
	}
	return nil
}

// rolloutScene draws Rollouts.
type rolloutScene struct {
	*rollout
	client dynamic.Interface
	typed  kubernetes.Interface
	find   *resourcearg.Finder
	out    io.Writer
	last   string
}

// draw writes a Rollout as it is now, unless that is what it wrote last.
func (s *rolloutScene) draw(ctx context.Context, r *release.Rollout) error {
	resource := schema.GroupVersionResource{Group: release.Group, Version: r.Version, Resource: "rollouts"}
	u, err := s.client.Resource(resource).Namespace(r.Namespace).Get(ctx, r.Name, metav1.GetOptions{})
	if err != nil {
		return err
	}
	style := s.factory.OutStyle(false)
	page, err := rolloutPage(ctx, s.typed, s.find, u, describeLook{color: style.Color && !s.plain, all: s.all})
	if err != nil || page == s.last {
		return err
	}
	switch {
	case s.watch && s.factory.Redraws():
		s.last = page
		_, err = io.WriteString(safe.Unwrap(s.out), "\x1b[H\x1b[2J"+safe.Page(page))
		return err
	case s.watch && s.last != "":
		page, s.last = "\n"+page, page
	default:
		s.last = page
	}
	_, err = io.WriteString(s.out, page)
	return err
}

// follow draws a Rollout whenever it changes.
func (s *rolloutScene) follow(ctx context.Context, r *release.Rollout) error {
	if s.timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, time.Duration(s.timeout), command.ErrTimedOut)
		defer cancel()
	}
	var bad error
	err := release.Watch(ctx, s.client, r, func(now *release.Rollout) bool {
		bad = s.draw(ctx, now)
		return bad != nil
	})
	switch {
	case context.Cause(ctx) == command.ErrTimedOut: //nolint:errorlint // it is the cause as it was given
		_, _ = fmt.Fprintln(s.factory.Streams.Err, "error: context deadline exceeded")
		return command.ErrTimedOut
	case ctx.Err() != nil:
		return command.ErrInterrupted
	case bad != nil:
		return bad
	}
	return err
}

// rolloutPage reads what belongs to a Rollout, and describes it.
func rolloutPage(ctx context.Context, client kubernetes.Interface, find *resourcearg.Finder, u *unstructured.Unstructured, l describeLook) (string, error) {
	workload, list, err := rolloutRelated(ctx, client, find, u)
	if err != nil {
		return "", err
	}
	return releasePage(u, workload, list, l, time.Now())
}

// rolloutRelated reads the workload of a Rollout and its pods; both are missing where the
// workload is.
func rolloutRelated(ctx context.Context, client kubernetes.Interface, find *resourcearg.Finder, u *unstructured.Unstructured) (*unstructured.Unstructured, []corev1.Pod, error) {
	ref := mapPart(u.Object, "spec", "workloadRef")
	if ref == nil {
		ref = mapPart(u.Object, "spec", "objectRef", "workloadRef")
	}
	w, err := find.Get(ctx, stringPart(ref, "apiVersion"), stringPart(ref, "kind"), u.GetNamespace(), stringPart(ref, "name"))
	if isGone(err) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, err
	}
	chosen, err := resourcearg.PodsOf(ctx, w, find.Get)
	if err != nil {
		return w, nil, err
	}
	list, err := chosen.List(ctx, client.CoreV1())
	if apierrors.IsForbidden(err) {
		err = nil
	}
	return w, list, err
}

// secondsValue is a flag for a time: a number of seconds, as in the older plugin, or with a
// unit, as everywhere else.
type secondsValue time.Duration

func (s *secondsValue) String() string { return time.Duration(*s).String() }

// Set reads the flag.
func (s *secondsValue) Set(text string) error {
	if _, err := strconv.ParseUint(text, 10, 32); err == nil {
		text += "s"
	}
	d, err := time.ParseDuration(text)
	if err != nil || d < 0 {
		return fmt.Errorf("%q is not a time such as 30 or 5m", text)
	}
	*s = secondsValue(d)
	return nil
}

// Type names the values for help.
func (*secondsValue) Type() string { return "seconds" }
