package argocd

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/argoproj/argo-cd/v3/pkg/apis/application/v1alpha1"
	"github.com/argoproj/argo-cd/v3/util/lua"
	"github.com/argoproj/gitops-engine/pkg/cache"
	"github.com/argoproj/gitops-engine/pkg/health"
	gitops "github.com/argoproj/gitops-engine/pkg/sync"
	"github.com/argoproj/gitops-engine/pkg/sync/common"
	"github.com/argoproj/gitops-engine/pkg/utils/kube"
	"github.com/argoproj/gitops-engine/pkg/utils/tracing"
	jsonpatch "github.com/evanphx/json-patch"
	"github.com/go-logr/logr"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// controlPlane starts a cluster on which stand-ins of Kruise's controllers act, until the
// test ends. It is a process of another module: its Kubernetes is newer than Argo CD's.
func controlPlane(t *testing.T) *rest.Config {
	t.Helper()
	dir, err := filepath.Abs("../../out/argocd")
	if err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(dir, "serve")
	build := exec.Command("go", "build", "-C", "..", "-ldflags=-s -w", "-o", program, "./cluster/cmd/serve")
	if said, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	cmd := exec.Command(program)
	// There it finds the Go types that its definitions are made of.
	cmd.Dir = ".."
	// It remembers nothing of what other clusters serve, and needs no home for that.
	cmd.Env = append(os.Environ(), "KUBECACHEDIR="+t.TempDir())
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = in.Close()
		if err := cmd.Wait(); err != nil {
			t.Errorf("the cluster: %v", err)
		}
	})
	kubeconfig, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatalf("the cluster did not start: %v", err)
	}
	config, err := clientcmd.BuildConfigFromFlags("", strings.TrimSpace(kubeconfig))
	if err != nil {
		t.Fatal(err)
	}
	config.QPS, config.Burst = 200, 400
	return config
}

// tracking is where Argo CD writes whose an object is.
const tracking = "argocd.argoproj.io/tracking-id"

// liveState is what Argo CD knows of a cluster: it watches all of it.
type liveState struct {
	cache.ClusterCache
	config  *rest.Config
	kubectl kube.Kubectl
	// changed has a value when an object that an application has has changed.
	changed chan struct{}
}

func watched(t *testing.T, config *rest.Config) *liveState {
	t.Helper()
	l := &liveState{config: config, kubectl: &kube.KubectlCmd{Log: logr.Discard(), Tracer: tracing.NopTracer{}}, changed: make(chan struct{}, 1)}
	l.ClusterCache = cache.NewClusterCache(config, cache.SetLogr(logr.Discard()), cache.SetKubectl(l.kubectl),
		cache.SetPopulateResourceInfoHandler(func(o *unstructured.Unstructured, _ bool) (any, bool) {
			application := o.GetAnnotations()[tracking]
			return application, application != ""
		}))
	l.OnResourceUpdated(func(is, was *cache.Resource, _ map[kube.ResourceKey]*cache.Resource) {
		for _, r := range []*cache.Resource{is, was} {
			if r != nil && r.Info != "" {
				select {
				case l.changed <- struct{}{}:
				default:
				}
				return
			}
		}
	})
	if err := l.EnsureSynced(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Invalidate() })
	return l
}

// application is one of Argo CD's, with a namespace of its name.
type application struct {
	*liveState
	name string
	// health are the scripts, as the settings of Argo CD give them to the engine.
	health health.HealthOverride
}

// operation is a sync in progress.
type operation struct {
	phase   common.OperationPhase
	message string
	results []common.ResourceSyncResult
	// waves are those that were applied, in order, by phase and number.
	waves []string
}

// limitOfSync is for a busy machine: a sync that hangs is what it finds.
const limitOfSync = 5 * time.Minute

// sync syncs the objects until that has ended, or enough says that it has been seen long
// enough. As in the application controller each round compares again, and continues from what
// the last round said; rounds come with changes, and each second.
func (a *application) sync(t *testing.T, objects []*unstructured.Unstructured, enough func(operation) bool) operation {
	t.Helper()
	var o operation
	started := metav1.Now()
	for deadline := time.Now().Add(limitOfSync); time.Now().Before(deadline); a.wait() {
		live, err := a.GetManagedLiveObjs(objects, func(r *cache.Resource) bool { return r.Info == a.name })
		if err != nil {
			t.Fatal(err)
		}
		round, cleanup, err := gitops.NewSyncContext("revision", gitops.Reconcile(objects, live, a.name, a), a.config, a.config, a.kubectl, a.name, a.GetOpenAPISchema(),
			gitops.WithHealthOverride(a.health),
			gitops.WithInitialState(o.phase, o.message, o.results, started),
			gitops.WithOperationSettings(false, true, false, false),
			gitops.WithManifestValidation(true),
			gitops.WithSyncWaveHook(func(phase common.SyncPhase, wave int, _ bool) error {
				o.waves = append(o.waves, fmt.Sprint(phase, " ", wave))
				return nil
			}),
			gitops.WithLogr(logr.Discard()))
		if err != nil {
			t.Fatal(err)
		}
		round.Sync()
		cleanup()
		o.phase, o.message, o.results = round.GetState()
		if o.phase.Completed() || enough != nil && enough(o) {
			return o
		}
	}
	t.Fatalf("the sync hangs: %s", o.message)
	return o
}

// wait returns when something has changed, and after a second.
func (l *liveState) wait() {
	select {
	case <-l.changed:
	case <-time.After(time.Second):
	}
}

// succeeds syncs the objects to the end.
func (a *application) succeeds(t *testing.T, objects []*unstructured.Unstructured) operation {
	t.Helper()
	o := a.sync(t, objects, nil)
	if o.phase != common.OperationSucceeded {
		t.Fatalf("%s: %s\n%v", o.phase, o.message, o.results)
	}
	return o
}

// get is the object as the cluster has it.
func (a *application) get(t *testing.T, o *unstructured.Unstructured) *unstructured.Unstructured {
	t.Helper()
	found, err := a.kubectl.GetResource(t.Context(), a.config, o.GroupVersionKind(), o.GetName(), o.GetNamespace())
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// healthOf is the health of an object as the application shows it; Argo CD counts one
// without a script as healthy.
func (a *application) healthOf(t *testing.T, o *unstructured.Unstructured) health.HealthStatus {
	t.Helper()
	h, err := health.GetResourceHealth(a.get(t, o), a.health)
	if err != nil {
		t.Fatal(err)
	}
	if h == nil {
		return health.HealthStatus{Status: health.HealthStatusHealthy}
	}
	return *h
}

// becomes waits for the health of an object.
func (a *application) becomes(t *testing.T, o *unstructured.Unstructured, want health.HealthStatus) {
	t.Helper()
	a.until(t, fmt.Sprintf("%s %s is %s", o.GetKind(), o.GetName(), want), func() bool {
		h := a.healthOf(t, o)
		return h.Status == want.Status && (want.Message == "" || h.Message == want.Message)
	})
}

// until waits for what must come.
func (a *application) until(t *testing.T, what string, is func() bool) {
	t.Helper()
	for deadline := time.Now().Add(limitOfSync); time.Now().Before(deadline); a.wait() {
		if is() {
			return
		}
	}
	t.Fatalf("it never comes: %s", what)
}

// act carries an action out on the live object as the API server of Argo CD does: what the
// script has changed is sent as a merge patch.
func (a *application) act(t *testing.T, name string, o *unstructured.Unstructured) {
	t.Helper()
	live := a.get(t, o)
	before, err := json.Marshal(live)
	if err != nil {
		t.Fatal(err)
	}
	vm := lua.VM{ResourceOverrides: map[string]v1alpha1.ResourceOverride(customizations(t))}
	action, err := vm.GetResourceAction(live, name)
	if err != nil {
		t.Fatal(err)
	}
	changed, err := vm.ExecuteResourceAction(live, action.ActionLua, nil)
	if err != nil || len(changed) != 1 {
		t.Fatalf("%s: %v %v", name, changed, err)
	}
	after, err := json.Marshal(changed[0].UnstructuredObj)
	if err != nil {
		t.Fatal(err)
	}
	patch, err := jsonpatch.CreateMergePatch(before, after)
	if err != nil {
		t.Fatal(err)
	}
	if string(patch) == "{}" {
		t.Fatalf("%s changes nothing", name)
	}
	if _, err := a.kubectl.PatchResource(t.Context(), a.config, o.GroupVersionKind(), o.GetName(), o.GetNamespace(), types.MergePatchType, patch); err != nil {
		t.Fatalf("%s: %v\n%s", name, err, patch)
	}
}
