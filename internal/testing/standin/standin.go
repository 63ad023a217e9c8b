// Package standin plays Kruise in a test cluster: the models of package
// pkg/plan/controller reconcile Kruise objects in an API server, a real one or one in
// memory, and webhooks answer as Kruise's would. No rule is written here a second time:
// what is decided comes from the product's packages, and this one only reads the
// cluster for them and carries out what they say.
package standin

import (
	"context"
	"fmt"
	"sync"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/record"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/node"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	plan "github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// Cluster is where to play Kruise.
type Cluster struct {
	// Config must allow everything and be without a limit of requests.
	Config *rest.Config
	Nodes  *node.Pool
	// Pace may be nil.
	Pace *Pace
	// Register has the API server ask the webhooks, and returns when it does.
	Register func(ctx context.Context, w Webhooks) error
}

// gates are the feature gates that rules ask for.
func gates() plan.Gates { return plan.DefaultGates() }

// standIns are all controllers and webhooks of one cluster. They end with the
// context that they were installed with.
type standIns struct {
	client  kubernetes.Interface
	dynamic dynamic.Interface
	nodes   *node.Pool
	store   *store
	seen    *seen
	events  record.EventRecorder
	// restarts are the containers that nodes were asked to restart.
	restarts *restarts
	// permits keeps questions to one budget apart.
	permits sync.Mutex
	// memory are objects in the form that checks take.
	memory memory[*resource.Resource]
	pace   *Pace
	// applied are the workloads of subsets, by UID.
	applied sync.Map
}

// Start starts everything and returns when webhooks are in force and all
// controllers look; Kruise's API must be served. The feature gates are those of the
// recordings: every pod has the gate KruisePodReady, PodUnavailableBudgets guard
// updates too, deletions are protected.
func Start(ctx context.Context, c Cluster) error {
	s := &standIns{nodes: c.Nodes, restarts: newRestarts(), pace: c.Pace}
	var err error
	if s.client, err = kubernetes.NewForConfig(c.Config); err != nil {
		return err
	}
	if s.dynamic, err = dynamic.NewForConfig(c.Config); err != nil {
		return err
	}
	home := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: kruise.DefaultNamespace}}
	if _, err := s.client.CoreV1().Namespaces().Create(ctx, home, metav1.CreateOptions{}); err != nil && !apierrors.IsAlreadyExists(err) {
		return err
	}
	if s.store, err = newStore(ctx, s.client, s.dynamic); err != nil {
		return err
	}
	s.seen = newSeen()
	s.events = s.recorder(ctx)
	if err := c.Register(ctx, Webhooks{Pod: s.admitPod, Object: s.fill, Check: s.check, Budget: s.guard, Deletion: s.protect}); err != nil {
		return fmt.Errorf("webhooks: %w", err)
	}
	return s.run(ctx)
}

// recorder writes the controllers' events.
func (s *standIns) recorder(ctx context.Context) record.EventRecorder {
	b := record.NewBroadcaster(record.WithContext(ctx))
	b.StartRecordingToSink(&typedcorev1.EventSinkImpl{Interface: s.client.CoreV1().Events("")})
	context.AfterFunc(ctx, b.Shutdown)
	return b.NewRecorder(scheme.Scheme, corev1.EventSource{Component: "kruise-stand-in"})
}
