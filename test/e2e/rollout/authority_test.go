package rollout

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/dynamic"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/planfile"
	testcluster "github.com/kubectl-kruise/kubectl-kruise/test/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/test/product"
)

// from calls the command as a person with approvals of their own: state is their folder.
func from(t *testing.T, b *bed, state string, args ...string) (code int, out, said string) {
	t.Helper()
	return fromAs(t, b, b.Kubeconfig(), state, args...)
}

// fromAs does so with the access that a kubeconfig gives.
func fromAs(t *testing.T, b *bed, kubeconfig, state string, args ...string) (code int, out, said string) {
	t.Helper()
	path, err := product.Binary()
	must(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), testcluster.Patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, append(args, "-n", b.namespace, "--kubeconfig", kubeconfig)...)
	cmd.Env = append(os.Environ(), "XDG_STATE_HOME="+state)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	var exit *exec.ExitError
	if err := cmd.Run(); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), stdout.String(), stderr.String()
}

// tamper edits the plan in the record, as a tenant who may write ConfigMaps can, and the
// progress, too, so that the rollout is at its first step.
func tamper(t *testing.T, b *bed, first bool, edit func(p *plan.Plan)) {
	t.Helper()
	tamperText(t, b, first, func(text []byte) []byte {
		p, err := planfile.Read(text)
		must(t, err)
		edit(&p)
		text, _ = planfile.Write(p) // what a tenant writes may be no plan
		return text
	})
}

// tamperText edits the text of that plan.
func tamperText(t *testing.T, b *bed, first bool, edit func(text []byte) []byte) {
	t.Helper()
	maps := b.Client().CoreV1().ConfigMaps(b.namespace)
	list, err := maps.List(t.Context(), metav1.ListOptions{LabelSelector: "kubectl-kruise.dev/rollout-of"})
	must(t, err)
	if len(list.Items) != 1 {
		t.Fatalf("%d records", len(list.Items))
	}
	cm := &list.Items[0]
	z, err := gzip.NewReader(bytes.NewReader(cm.BinaryData["plan.yaml.gz"]))
	must(t, err)
	text, err := io.ReadAll(z)
	must(t, err)
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	_, err = w.Write(edit(text))
	must(t, err)
	must(t, w.Close())
	cm.BinaryData["plan.yaml.gz"] = packed.Bytes()
	if first {
		cm.Data["record"] = regexp.MustCompile(`"step":\d+`).ReplaceAllString(cm.Data["record"], `"step":0`)
	}
	_, err = maps.Update(t.Context(), cm, metav1.UpdateOptions{})
	must(t, err)
}

const approvedClones = "updateStrategy: {rollingUpdate: {podUpdatePolicy: InPlaceIfPossible}}"

var approvedDigest = regexp.MustCompile(`plan approved: (sha256:[0-9a-f]{32})`)

// begun is a rollout that waits at the pause after its first step, begun by a person
// whose approvals are in the folder, and its digest.
func begun(t *testing.T, more ...string) (b *bed, state, digest string) {
	t.Helper()
	b, state = newBed(t, kruiseKind("CloneSet", "clonesets", approvedClones)), t.TempDir()
	args := append([]string{"rollout", "run", "cloneset/web", "--yes", "--image", "main=" + web2, "--steps", "1,2,100%", "--pause-after", "1", "--pull-images", "never", "--exit-on-pause"}, more...)
	code, out, said := from(t, b, state, args...)
	found := approvedDigest.FindStringSubmatch(said)
	if code != 5 || found == nil {
		t.Fatalf("exit %d\n%s\n%s", code, out, said)
	}
	return b, state, found[1]
}

// live is the workload as it is in the cluster.
func (b *bed) live(t *testing.T) string {
	t.Helper()
	client, err := dynamic.NewForConfig(b.Config())
	must(t, err)
	o, err := client.Resource(b.object.Resource).Namespace(b.namespace).Get(t.Context(), b.object.Name, metav1.GetOptions{})
	must(t, err)
	text, err := json.Marshal(o.Object["spec"])
	must(t, err)
	return string(text)
}

// TestApprover_WritesTheRecordOnly: a person with the role for approvals writes the record of a rollout and
// nothing else. Where no process drives it they are told who can carry it out; where one
// does, it follows. The history names all of them.
func TestApprover_WritesTheRecordOnly(t *testing.T) {
	t.Parallel()
	b, pipeline, _ := begun(t)
	account := b.person(t, "approver", nil, "--role", "approve", "--name", b.namespace+"-approver", "--in", b.namespace)
	as := func(args ...string) (int, string, string) {
		return fromAs(t, b, kubeconfig(t, account), t.TempDir(), args...)
	}
	before := b.live(t)
	// No process drives it: the decision is recorded, and a person with more rights is named.
	code, _, said := as("rollout", "promote", "cloneset/web")
	if code != 1 || !strings.Contains(said, "no process is running the rollout") || !strings.Contains(said, "rollout resume") {
		t.Errorf("exit %d\n%s", code, said)
	}
	if code, _, said = as("rollout", "run", "cloneset/web", "--image", "main=other:1", "--yes"); code != 1 {
		t.Errorf("an approver rolls out: exit %d\n%s", code, said)
	}
	if now := b.live(t); now != before {
		t.Errorf("the approver has changed the workload:\n%s\n%s", before, now)
	}
	if code, _, said = from(t, b, pipeline, "rollout", "resume", "cloneset/web"); code != 0 {
		t.Fatalf("exit %d\n%s", code, said)
	}
	_, out, _ := as("rollout", "show", "cloneset/web")
	for _, want := range []string{"started by", "promoted by", "completed, run by", "with kubectl-kruise"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %s in\n%s", want, out)
		}
	}
	_, out, _ = as("rollout", "show", "cloneset/web", "-o", "html")
	for _, want := range []string{"<!DOCTYPE html>", "<h1>cloneset/web in " + b.namespace, "<th scope=\"row\">promoted</th>", "<th scope=\"row\">completed</th>", "Complete"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %s in\n%s", want, out)
		}
	}
}
