package standin_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/conformance"
	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/node"
	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/node/life"
	"github.com/kubectl-kruise/kubectl-kruise/test/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/test/cluster/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/test/cluster/standin"
)

// replayed are the recorded cases that take their time here: one or more for each
// kind and feature. The simulator goes through all of them. Cases that stop in the
// middle of a wave (017, 058, 305) hang on the speed of the machine: they are only
// in CONFORMANCE_CASES=all.
var replayed = strings.Fields(`
	002 003 004 006 008 010 013 016 019 020 024 026 032 034 039 044 050 052 060 066 067 070 079 084 089
	101 103 105 106 107 109 112 117 122 124 126 127 131
	201 204 205 207 208 215 217
	301 302 303 304 307 312 313 314
	402 403 406 407 411`)

// casesEnv names the cases to replay instead, by number and with commas, or "all".
const casesEnv = "CONFORMANCE_CASES"

// together is how many cases are replayed at a time. Most of what they do is wait.
const together = 16

// TestConformance_OnARealAPIServer brings recorded cases up on a real API server and does
// their steps. What is compared is what does not hang on the speed of the machine:
// refusals, what was done to pods and how often, the extremes, and the end states.
func TestConformance_OnARealAPIServer(t *testing.T) {
	if testing.Short() {
		t.Skip("takes minutes")
	}
	b := &busy{pace: new(standin.Pace)}
	b.Cluster = cluster.Start(t, cluster.WithNodes(recordedNodes()...), cluster.WithTiming(life.Recorded()), kruise.API(), standin.Paced(b.pace))
	cases := chosen(t)
	verdicts := b.replayAll(t.Context(), cases)
	passed := 0
	for i := range cases {
		t.Run(cases[i].Name, func(t *testing.T) {
			if verdicts[i] != nil {
				t.Error(verdicts[i])
				return
			}
			passed++
		})
	}
	fmt.Printf("conformance cluster: %d passed, %d failed\n", passed, len(cases)-passed)
}

// busy is a cluster on a machine that may be busy with other things.
type busy struct {
	*cluster.Cluster

	pace *standin.Pace
}

// replayAll replays the cases together. One that fails in the crowd is replayed again,
// alone: on a machine that is busy with sixteen cases a container may need
// longer than a recorded grace period, and what happens then was never recorded.
func (b *busy) replayAll(ctx context.Context, cases []conformance.Case) []error {
	verdicts := make([]error, len(cases))
	room := make(chan struct{}, together)
	var all sync.WaitGroup
	for i := range cases {
		room <- struct{}{}
		all.Go(func() {
			defer func() { <-room }()
			verdicts[i] = replay(ctx, b.Cluster, cases[i])
		})
	}
	all.Wait()
	fmt.Printf("together: no controller was more than %v late\n", b.pace.Restart())
	for i := range cases {
		if verdicts[i] != nil {
			fmt.Printf("%s again, alone: %v\n", cases[i].Name, verdicts[i])
			verdicts[i] = b.replayAlone(ctx, cases[i])
		}
	}
	return verdicts
}

// tooLate is a delay of controllers that the recordings never had: theirs needed a tenth of
// the time that a container takes to start. Here a quarter of it is too much, since up to three turns follow each other
// before an old pod goes: with a surge (044) they must end before the new pod is ready, or no pod is ever missing.
var tooLate = life.Recorded().Start / 4

// attempts is how often a case is replayed alone while the controllers are too late.
const attempts = 6

// replayAlone replays a case while no other is.
func (b *busy) replayAlone(ctx context.Context, recorded conformance.Case) error {
	return untilOnPace(b.pace, func() error {
		if err := release(ctx, b.Client(), recorded.Namespace()); err != nil {
			return err
		}
		b.pace.Restart()
		return replay(ctx, b.Cluster, recorded)
	})
}

// untilOnPace replays until there is no difference, or a difference while the controllers
// kept pace.
func untilOnPace(pace interface{ Restart() time.Duration }, replay func() error) error {
	for left := attempts; ; left-- {
		verdict := replay()
		late := pace.Restart()
		if verdict == nil || late < tooLate || left == 1 {
			return verdict
		}
		fmt.Printf("once more, as a controller was %v late: %v\n", late, verdict)
	}
}

// delays are those of one replay after another.
type delays []time.Duration

func (d *delays) Restart() time.Duration {
	first := (*d)[0]
	*d = (*d)[1:]
	return first
}

func TestUntilOnPace_TakesTheFirstVerdictThatCounts(t *testing.T) {
	t.Parallel()
	differs := errors.New("differs")
	for name, c := range map[string]struct {
		late     delays
		verdicts []error
		want     error
	}{
		"equal":                           {delays{0}, []error{nil}, nil},
		"equal though late":               {delays{tooLate}, []error{nil}, nil},
		"different":                       {delays{tooLate - 1}, []error{differs}, differs},
		"different as it was late":        {delays{tooLate, 0}, []error{differs, nil}, nil},
		"different also while it was not": {delays{tooLate, tooLate, 0}, []error{differs, differs, differs}, differs},
		"always late":                     {slices.Repeat(delays{tooLate}, attempts), slices.Repeat([]error{differs}, attempts), differs},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			replays := 0
			got := untilOnPace(&c.late, func() error {
				replays++
				return c.verdicts[replays-1]
			})
			if !errors.Is(got, c.want) || replays != len(c.verdicts) {
				t.Errorf("%v after %d replays, want %v after %d", got, replays, c.want, len(c.verdicts))
			}
		})
	}
}

// release waits for the end of a namespace that is being deleted, and removes the
// finalizers of its pods. Those that a case's hook would have removed have no hook
// any more, and would hold the namespace for ever.
func release(ctx context.Context, client kubernetes.Interface, namespace string) error {
	pods := client.CoreV1().Pods(namespace)
	err := wait.PollUntilContextTimeout(ctx, time.Second, cluster.Patience, true, func(ctx context.Context) (bool, error) {
		left, err := pods.List(ctx, metav1.ListOptions{})
		if err != nil {
			return false, err
		}
		for i := range left.Items {
			if len(left.Items[i].Finalizers) == 0 {
				continue
			}
			none := []byte(`{"metadata":{"finalizers":null}}`)
			_, err := pods.Patch(ctx, left.Items[i].Name, types.MergePatchType, none, metav1.PatchOptions{})
			if err != nil && !apierrors.IsNotFound(err) {
				return false, err
			}
		}
		_, err = client.CoreV1().Namespaces().Get(ctx, namespace, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			return true, nil
		}
		return false, err
	})
	if err != nil {
		return fmt.Errorf("waiting for the end of namespace %q: %w", namespace, err)
	}
	return nil
}

// TestRelease_RemovesAFinalizerWithoutAHook has a pod whose finalizer nothing else removes.
func TestRelease_RemovesAFinalizerWithoutAHook(t *testing.T) {
	b := newBed(t)
	namespace := b.Namespace(t)
	b.Apply(t, namespace, `
apiVersion: v1
kind: Pod
metadata: {name: held, finalizers: [example.com/hook]}
spec: {containers: [{name: main, image: "web:1.0"}]}
`)
	if err := b.Client().CoreV1().Namespaces().Delete(t.Context(), namespace, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := release(t.Context(), b.Client(), namespace); err != nil {
		t.Error(err)
	}
}

// recordedNodes are those of the recordings.
func recordedNodes() []node.Spec {
	specs := node.Spread(5, "zone-a", "zone-b", "zone-c")
	for i := range specs {
		specs[i].Name = fmt.Sprintf("fake-node-%d", i)
	}
	return specs
}

func chosen(t *testing.T) []conformance.Case {
	t.Helper()
	numbers := replayed
	if given := os.Getenv(casesEnv); given != "" {
		numbers = strings.Split(given, ",")
	}
	all := conformance.List(t, "rollout")
	if slices.Equal(numbers, []string{"all"}) {
		return all
	}
	cases := slices.DeleteFunc(all, func(c conformance.Case) bool {
		number, _, _ := strings.Cut(c.Name, "-")
		return !slices.Contains(numbers, number)
	})
	if len(cases) == 0 {
		t.Fatal(errors.New("none of the cases is there"))
	}
	return cases
}
