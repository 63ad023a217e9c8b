package rollout

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/kube"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/notify"
	"github.com/kubectl-kruise/kubectl-kruise/test/product"
)

// runnerImage is in no Job that a node runs: the tests play the runner's pod.
const runnerImage = "registry.example.com/kubectl-kruise:v9"

// hookSecret is what the Secret of every Job has.
const hookSecret = "s3cret"

// runners is the namespace in which the Jobs of a bed are, with what `rbac --runner` prints.
func (b *bed) runners(t *testing.T) string {
	t.Helper()
	namespace := b.namespace + "-runners"
	b.Apply(t, "", "apiVersion: v1\nkind: Namespace\nmetadata: {name: "+namespace+", labels: {pod-security.kubernetes.io/enforce: restricted}}\n")
	t.Cleanup(func() {
		_ = b.Client().CoreV1().Namespaces().Delete(t.Context(), namespace, metav1.DeleteOptions{}) // the cluster goes in any case
	})
	said := product.Call(t, "rbac", "--runner", "--runner-namespace", namespace, "--driver", "kruise", "--features", "", "--in", b.namespace, "--name", b.namespace+"-runner")
	said.Wants(t, 0)
	b.Apply(t, namespace, said.Out)
	return namespace
}

// detach has a rollout carried out by a Job, and returns it.
func (b *bed) detach(t *testing.T, runners string, args ...string) *batchv1.Job {
	t.Helper()
	args = append(args, "--driver", "kruise", "--pull-images", "never", "--yes", "--detach", "--runner-namespace", runners, "--runner-image", runnerImage)
	b.call(t, append([]string{"rollout", "run", "cloneset/web", "--image", "main=" + web2}, args...)...).Wants(t, 0, "job.batch/rollout-web-")
	return b.job(t, runners)
}

func (b *bed) job(t *testing.T, runners string) *batchv1.Job {
	t.Helper()
	jobs, err := b.Client().BatchV1().Jobs(runners).List(t.Context(), metav1.ListOptions{LabelSelector: "kubectl-kruise.dev/runner-for-namespace=" + b.namespace})
	must(t, err)
	if len(jobs.Items) == 0 {
		t.Fatal("no Job was created")
	}
	return &jobs.Items[len(jobs.Items)-1]
}

// played is the pod of a Job, played by a process: it runs the very command of the Job's
// container with its environment, its mounts and a token of its ServiceAccount.
type played struct {
	*exec.Cmd
	name string
	out  bytes.Buffer
}

// privately runs a command with a /run of its own, in which the mounts of a pod are. The
// process is the one that the command becomes.
const privately = `mount -t tmpfs tmpfs /run && mkdir -p /run/secrets/kubernetes.io && ln -s "$0" /run/secrets/kubernetes.io/serviceaccount && exec "$@"`

// play starts the runner of a Job. files are those of its ConfigMap.
func (b *bed) play(t *testing.T, j *batchv1.Job, name string, files map[string]string) *played {
	t.Helper()
	pod := j.Spec.Template.Spec
	token, err := b.Client().CoreV1().ServiceAccounts(j.Namespace).CreateToken(t.Context(), pod.ServiceAccountName, &authenticationv1.TokenRequest{}, metav1.CreateOptions{})
	must(t, err)
	mounts, home := t.TempDir(), t.TempDir()
	for file, text := range map[string]string{"token": token.Status.Token, "ca.crt": string(b.Config().CAData), "namespace": j.Namespace} {
		must(t, os.WriteFile(filepath.Join(mounts, file), []byte(text), 0o600))
	}
	config := t.TempDir()
	for file, text := range files {
		must(t, os.WriteFile(filepath.Join(config, file), []byte(text), 0o600))
	}
	server, err := url.Parse(b.Config().Host)
	must(t, err)
	path, err := product.Binary()
	must(t, err)
	c := pod.Containers[0]
	if len(c.Command) != 1 || c.Command[0] != "/usr/local/bin/kubectl-kruise" {
		t.Fatalf("the image has no %v", c.Command)
	}
	args := []string{"--map-root-user", "--mount", "sh", "-c", privately, mounts, path}
	for _, arg := range c.Args {
		args = append(args, strings.ReplaceAll(arg, "/etc/kubectl-kruise", config))
	}
	p := &played{Cmd: exec.CommandContext(t.Context(), "unshare", args...), name: name}
	p.Env = []string{"PATH=" + os.Getenv("PATH"), "KUBERNETES_SERVICE_HOST=" + server.Hostname(), "KUBERNETES_SERVICE_PORT=" + server.Port()}
	for _, e := range c.Env {
		switch {
		case e.Name == "HOME": // its /tmp is a folder of its own
			e.Value = home
		case e.ValueFrom != nil && e.ValueFrom.FieldRef != nil:
			e.Value = name
		case e.ValueFrom != nil: // of a Secret
			e.Value = hookSecret
		}
		p.Env = append(p.Env, e.Name+"="+e.Value)
	}
	p.Stdout, p.Stderr = &p.out, &p.out
	must(t, p.Start())
	t.Cleanup(func() { _ = p.Process.Kill() })
	return p
}

// ends waits for a runner, which has to end so and to have said that.
func (p *played) ends(t *testing.T, code int, texts ...string) {
	t.Helper()
	_ = p.Wait() // the exit code says it
	product.Said{Code: p.ProcessState.ExitCode(), Out: p.out.String()}.Wants(t, code, texts...)
}

// drives waits until a runner drives the rollout.
func (b *bed) drives(t *testing.T, p *played) {
	t.Helper()
	records := kube.Records{Client: b.Client()}
	for late := time.Now().Add(time.Minute); ; time.Sleep(lookAgain) {
		by, err := records.Holder(t.Context(), b.object.Ref)
		must(t, err)
		if strings.HasPrefix(by, "runner@"+p.name+" ") {
			return
		}
		if time.Now().After(late) {
			t.Fatalf("%s does not drive the rollout, %q does\n%s", p.name, by, &p.out)
		}
	}
}

// pauses waits until the rollout waits for a person with so many pods updated.
func (b *bed) pauses(t *testing.T, updated int) {
	t.Helper()
	for late := time.Now().Add(time.Minute); ; time.Sleep(lookAgain) {
		rec, err := kube.Records{Client: b.Client()}.Load(t.Context(), b.object.Ref)
		must(t, err)
		if s := rec.Present(); s != nil && s.Pause != nil && running(b.pods(t), web2) == updated {
			return
		}
		if time.Now().After(late) {
			t.Fatalf("it does not come to the pause after %d pods: %s", updated, rec.Describe())
		}
	}
}

// asPod is a pod of a Job, as the controller would make it.
func asPod(j *batchv1.Job) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{GenerateName: j.Name + "-", Namespace: j.Namespace, Labels: j.Spec.Template.Labels}, Spec: j.Spec.Template.Spec}
}

// heard is a web hook that keeps the types of what it is told, if it is signed.
type heard struct {
	*httptest.Server
	mu    sync.Mutex
	types []string
}

func newHeard(t *testing.T) *heard {
	t.Helper()
	h := &heard{}
	h.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		var told struct{ Type, Source string }
		if err = errors.Join(err, json.Unmarshal(body, &told)); err != nil || r.Header.Get(notify.SignatureHeader) != notify.Sign([]byte(hookSecret), body) || !strings.HasPrefix(told.Source, "urn:uuid:") {
			t.Errorf("%v: %s", err, body)
		}
		h.mu.Lock()
		defer h.mu.Unlock()
		h.types = append(h.types, told.Type)
	}))
	t.Cleanup(h.Close)
	return h
}

// shown is what an address answers.
func shown(t *testing.T, address string) string {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
	must(t, err)
	res, err := http.DefaultClient.Do(req)
	must(t, err)
	text, err := io.ReadAll(res.Body)
	must(t, errors.Join(err, res.Body.Close()))
	return string(text)
}

// free is an address of this machine at which nothing listens.
func free(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	must(t, l.Close())
	return l.Addr().String()
}

func numbered(i int) string { return fmt.Sprintf("rollout-web-%d", i) }
