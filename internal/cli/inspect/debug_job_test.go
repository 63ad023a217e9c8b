package inspect

import (
	"bytes"
	"errors"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/cli-runtime/pkg/printers"
	"k8s.io/kubectl/pkg/cmd/debug"
	cmdutil "k8s.io/kubectl/pkg/cmd/util"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/command"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/factory"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/kubectl"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/resourcearg"
)

func newDebugOptions(t *testing.T, args ...string) *debugOptions {
	t.Helper()
	var out bytes.Buffer
	f := factory.New(factory.Streams{Out: &out, Err: &out})
	o := &debugOptions{DebugOptions: debug.NewDebugOptions(kubectl.Streams(f)), factory: f}
	o.Image, o.Args = "busybox", args
	o.WarningPrinter = printers.NewWarningPrinter(&out, printers.WarningPrinterOptions{})
	var err error
	if o.Applier, err = debug.NewProfileApplier(debug.ProfileGeneral, debug.KeepFlags{}); err != nil {
		t.Fatal(err)
	}
	return o
}

func TestEphemeralJob(t *testing.T) {
	selector, err := labels.Parse("app=web,tier in (a,b)")
	if err != nil {
		t.Fatal(err)
	}
	o := newDebugOptions(t, "sh", "-c", "date")
	o.Container, o.TargetContainer, o.Env = "look", "main", []corev1.EnvVar{{Name: "A", Value: "b"}}
	o.job = debugJob{name: "look", replicas: 2, parallelism: 1, ttl: 60}
	u, err := o.ephemeralJob(resourcearg.PodSelection{Namespace: "shop", Selector: selector}, "v1alpha1")
	if err != nil {
		t.Fatal(err)
	}
	got, err := yaml.Marshal(u.Object)
	if err != nil {
		t.Fatal(err)
	}
	want := `apiVersion: apps.kruise.io/v1alpha1
kind: EphemeralJob
metadata:
  name: look
  namespace: shop
spec:
  parallelism: 1
  replicas: 2
  selector:
    matchExpressions:
    - key: tier
      operator: In
      values:
      - a
      - b
    matchLabels:
      app: web
  template:
    ephemeralContainers:
    - command:
      - sh
      - -c
      - date
      env:
      - name: A
        value: b
      image: busybox
      imagePullPolicy: Always
      name: look
      resources: {}
      securityContext:
        capabilities:
          add:
          - SYS_PTRACE
      targetContainerName: main
      terminationMessagePolicy: File
  ttlSecondsAfterFinished: 60
`
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Error(diff)
	}
}

// TestDebug_GeneratesNames: without a name in the command, each gets one of its own.
func TestDebug_GeneratesNames(t *testing.T) {
	o := newDebugOptions(t)
	u, err := o.ephemeralJob(resourcearg.PodSelection{Namespace: "shop", Selector: labels.SelectorFromSet(labels.Set{"a": "b"})}, "v1alpha1")
	if err != nil {
		t.Fatal(err)
	}
	if !regexp.MustCompile(`^debug-[a-z0-9]{5}$`).MatchString(u.GetName()) || !regexp.MustCompile(`^debugger-[a-z0-9]{5}$`).MatchString(o.Container) {
		t.Error(u.GetName(), o.Container)
	}
	o.ArgsOnly, o.Args = true, []string{"-x"}
	if c, err := o.container(); err != nil || len(c.Command) > 0 || len(c.Args) != 1 {
		t.Errorf("%+v, %v", c, err)
	}
}

func TestCheck(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*debugOptions)
		say    string
	}{
		"fine":        {func(*debugOptions) {}, ""},
		"copy":        {func(o *debugOptions) { o.CopyTo = "x" }, "--copy-to is for one pod"},
		"interactive": {func(o *debugOptions) { o.Interactive = true }, "-i, -t and --attach are for one pod"},
		"custom":      {func(o *debugOptions) { o.CustomProfileFile = "x" }, "--custom is for one pod"},
		"no image":    {func(o *debugOptions) { o.Image = "" }, "you must specify --image"},
		"bad image":   {func(o *debugOptions) { o.Image = "A B" }, "invalid image name"},
	} {
		o := newDebugOptions(t)
		c.change(o)
		err := o.check()
		_, wrong := errors.AsType[*command.UsageError](err)
		if wrong != (c.say != "") || err != nil && !strings.Contains(err.Error(), c.say) {
			t.Errorf("%s: %v", name, err)
		}
	}
	o := newDebugOptions(t)
	for _, change := range []func(){func() { o.job.replicas = 2 }, func() { o.job, o.dryRun = debugJob{}, cmdutil.DryRunClient }} {
		change()
		if _, wrong := errors.AsType[*command.UsageError](o.withoutJob()); !wrong {
			t.Error("without Kruise there is no EphemeralJob")
		}
	}
}

func TestFirstRunning_PrefersRunningPods(t *testing.T) {
	list := []corev1.Pod{
		{ObjectMeta: metav1.ObjectMeta{Name: "a"}, Status: corev1.PodStatus{Phase: corev1.PodRunning}},
		{ObjectMeta: metav1.ObjectMeta{Name: "b"}, Status: corev1.PodStatus{Phase: corev1.PodPending}},
		{ObjectMeta: metav1.ObjectMeta{Name: "c", DeletionTimestamp: &metav1.Time{}}, Status: corev1.PodStatus{Phase: corev1.PodRunning}},
	}
	if diff := cmp.Diff([]string{"a"}, runningPods(list)); diff != "" {
		t.Error(diff)
	}
	if !isNode("node/n1") || !isNode("no/n1") || isNode("cloneset/node") {
		t.Error("what is a node")
	}
}
