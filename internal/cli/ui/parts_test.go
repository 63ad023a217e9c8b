package ui

import (
	"errors"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/cli-runtime/pkg/genericclioptions"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/command"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/factory"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/screen"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/world"
)

// TestContext_OfProductionAsksForTheName: which contexts ask for a name.
func TestContext_OfProductionAsksForTheName(t *testing.T) {
	for _, c := range []struct {
		context, pattern string
		production       bool
	}{
		{"eu-PROD-1", "", true},
		{"staging", "", false},
		{"live-1", "prod|live", true},
		{"prod", "^live", false},
	} {
		f := factory.New(factory.Streams{})
		namespace := "shop"
		f.Flags.Context, f.Flags.Namespace = &c.context, &namespace
		where, err := whereFrom(f, c.pattern, false)
		if err != nil || where.Production != c.production || where.Context != c.context || where.Namespace != "shop" {
			t.Errorf("%s %q: %+v, %v", c.context, c.pattern, where, err)
		}
		if where, err = whereFrom(f, c.pattern, true); err != nil || where.Namespace != "" {
			t.Errorf("all: %+v, %v", where, err)
		}
	}
	f := factory.New(factory.Streams{})
	var bad *command.UsageError
	if _, err := whereFrom(f, "(", false); !errors.As(err, &bad) {
		t.Errorf("%v", err)
	}
}

// TestContext_InClusterIsOnlyShown: without a kubeconfig the context has a name to show, which is
// no context of a command line.
func TestContext_InClusterIsOnlyShown(t *testing.T) {
	t.Setenv("KUBECONFIG", filepath.Join(t.TempDir(), "none"))
	f := factory.New(factory.Streams{})
	if where, err := whereFrom(f, "prod", true); err != nil || where.Context != "in-cluster" || !where.InCluster || where.Production {
		t.Errorf("without a kubeconfig: %+v, %v", where, err)
	}
	name := "lab"
	f.Flags.Context = &name
	if where, err := whereFrom(f, "prod", true); err != nil || where.Context != name || where.InCluster {
		t.Errorf("with --context %s: %+v, %v", name, where, err)
	}
}

// TestPlanScreen_OpensOnTheWorkload: a plan opens on its workload; what cannot be is refused.
func TestPlanScreen_OpensOnTheWorkload(t *testing.T) {
	open, err := planScreen("../../../pkg/plan/planfile/testdata/everything.yaml")
	if err != nil || open.Screen != screen.Plan || open.Ref.Name == "" || open.Plan == nil || len(open.Plan.Steps) == 0 {
		t.Errorf("%+v, %v", open, err)
	}
	if _, err := planScreen("nothing.yaml"); err == nil || !strings.Contains(err.Error(), "nothing.yaml") {
		t.Error(err)
	}
	var bad *command.UsageError
	for _, o := range []uiOptions{{plan: "-"}, {plan: "x.yaml"}} {
		if _, err := o.complete([]string{"cloneset/web"}); !errors.As(err, &bad) {
			t.Errorf("%v", err)
		}
	}
}

// TestConnection_KeepsTheFlagsOfTheCluster: a program of its own reaches the same cluster.
func TestConnection_KeepsTheFlagsOfTheCluster(t *testing.T) {
	f := genericclioptions.NewConfigFlags(true)
	name, namespace := "staging", "shop"
	f.Context, f.Namespace, f.ImpersonateGroup = &name, &namespace, &[]string{"a", "b"}
	got := connection(f)
	slices.Sort(got)
	if want := []string{"--as-group=a", "--as-group=b", "--context=staging"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestEventOf_ReadsBothForms: both of the ways in which events are written.
func TestEventOf_ReadsBothForms(t *testing.T) {
	at := func(s int64) time.Time { return time.Unix(s, 0) }
	older := &corev1.Event{
		InvolvedObject: corev1.ObjectReference{Kind: "CloneSet", Name: "web"}, Reason: "Scaled", Message: "so it is\n",
		FirstTimestamp: metav1.NewTime(at(1)), LastTimestamp: metav1.NewTime(at(2)), Count: 4,
	}
	newer := &corev1.Event{
		InvolvedObject: corev1.ObjectReference{Kind: "Pod", Name: "web-a"}, Type: "Warning", EventTime: metav1.NewMicroTime(at(3)),
		Series: &corev1.EventSeries{Count: 7, LastObservedTime: metav1.NewMicroTime(at(5))},
	}
	list := events([]*corev1.Event{older, newer})
	if e := list[0]; !e.At.Equal(at(5)) || e.Count != 7 || e.Pod != "web-a" || !e.Warning || e.About != "pod/web-a" {
		t.Errorf("%+v", e)
	}
	if e := list[1]; !e.At.Equal(at(2)) || !e.First.Equal(at(1)) || e.Count != 4 || e.Text != "so it is" || e.Pod != "" || e.Warning {
		t.Errorf("%+v", e)
	}
}

// TestLog_KeepsTheOrderOfLines: lines come in their order, and an end after them.
func TestLog_KeepsTheOrderOfLines(t *testing.T) {
	r, w := io.Pipe()
	l := follow(t.Context(), r)
	go func() {
		_, _ = io.WriteString(w, "one\ntwo\nthree")
		_ = w.Close()
	}()
	var got []string
	for {
		lines, err := l.Next()
		if got = append(got, lines...); err != nil {
			if !errors.Is(err, io.EOF) {
				t.Error(err)
			}
			break
		}
	}
	if want := []string{"one", "two", "three"}; !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

// TestShell_RunsInTheChosenContainer: a shell runs in the container that is meant.
func TestShell_RunsInTheChosenContainer(t *testing.T) {
	l := &liveSource{ctx: t.Context(), flags: []string{"--context=x"}}
	p, err := l.Shell("shop", "web-a", "app")
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(p.(program).Args[1:], " "); !strings.HasPrefix(got, "exec -it -n shop web-a --context=x -c app -- sh -c ") {
		t.Error(got)
	}
}

// TestText_LeavesOutServerFields: an object as YAML, without what only machines read.
func TestText_LeavesOutServerFields(t *testing.T) {
	a := shop(t)
	l := seeing(t, a, "shop", "")
	until(t, l, world.Want{}, "rows", loaded)
	if s := l.served(web); s != web {
		t.Errorf("served as %v", s)
	}
	if s := l.served(cluster.Ref{Name: "other"}); s.Name != "other" {
		t.Errorf("served as %v", s)
	}
}
