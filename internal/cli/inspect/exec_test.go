package inspect

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/cli-runtime/pkg/genericclioptions"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/command"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/factory"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
)

func newExecOptions(said *bytes.Buffer) *execOptions {
	return &execOptions{factory: factory.New(factory.Streams{Out: said, Err: said})}
}

// TestSplit: scripts may leave out the dashes, and get a warning.
func TestSplit(t *testing.T) {
	for _, c := range []struct {
		dash, want int
		args       []string
		told       bool
	}{
		{1, 1, []string{"web", "date"}, false},
		{-1, 1, []string{"web", "date"}, true},
		{-1, -1, []string{"web"}, false},
		{0, 0, []string{"date"}, false},
	} {
		var said bytes.Buffer
		got, err := newExecOptions(&said).split(c.dash, c.args)
		if got != c.want || err != nil || strings.Contains(said.String(), "DEPRECATED") != c.told {
			t.Errorf("%q: %d, %v %s", c.args, got, err, &said)
		}
	}
	o := newExecOptions(&bytes.Buffer{})
	o.sidecar, o.ContainerName = "a", "b"
	if _, err := o.split(1, nil); !errors.As(err, new(*command.UsageError)) {
		t.Errorf("two containers: %v", err)
	}
}

// TestDefectSidecar_FallsBackToItsOwnName: a sidecar that is not upgraded hot is a container by its
// own name, not nothing.
func TestDefectSidecar_FallsBackToItsOwnName(t *testing.T) {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{kruise.SidecarSetWorkingHotUpgradeAnnotation: `{"proxy":"proxy-2"}`}}}
	for _, c := range []struct{ sidecar, want, said string }{
		{"proxy", "proxy-2", "Enter working container proxy-2 of SidecarSet.\n"},
		{"agent", "agent", ""},
		{"", "given", ""},
	} {
		var said bytes.Buffer
		o := newExecOptions(&said)
		o.sidecar, o.ContainerName = c.sidecar, "given"
		o.attachable = func(genericclioptions.RESTClientGetter, runtime.Object, time.Duration) (*corev1.Pod, error) {
			return pod, nil
		}
		if got, err := o.choosePod(nil, pod, 0); err != nil || got != pod || o.ContainerName != c.want || said.String() != c.said {
			t.Errorf("%s: %s, %v, %q", c.sidecar, o.ContainerName, err, &said)
		}
	}
}
