package planning

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/rest"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
)

// at is the environment of a machine of its own.
func at(t *testing.T) func(string) string {
	t.Helper()
	folder := t.TempDir()
	return func(name string) string { return map[string]string{"XDG_STATE_HOME": folder}[name] }
}

func TestApproval_IsRemembered(t *testing.T) {
	here := at(t)
	if ok, err := IsApproved(here, []string{"sha256:a"}); ok || err != nil {
		t.Fatalf("before anything: %v, %v", ok, err)
	}
	for _, d := range []string{"sha256:a", "sha256:b", "sha256:a"} {
		if err := RememberApproval(here, Approval{Digest: d, Target: "cloneset/web", At: time.Now()}); err != nil {
			t.Fatal(err)
		}
	}
	for digest, want := range map[string]bool{"sha256:a": true, "sha256:b": true, "sha256:c": false, "": false} {
		if ok, err := IsApproved(here, []string{"sha256:x", digest}); ok != want || err != nil {
			t.Errorf("%q: %v, %v", digest, ok, err)
		}
	}
	path, _ := approvalsFile(here)
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	if dir, err := os.Stat(filepath.Dir(path)); err != nil || dir.Mode().Perm() != 0o700 {
		t.Errorf("%v, %v", dir.Mode(), err)
	}
	if left, _ := filepath.Glob(filepath.Join(filepath.Dir(path), ".approvals-*")); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
}

// TestKnown_TakesNoFileThatOthersCanWrite, nor lines that are no notes.
func TestKnown_TakesNoFileThatOthersCanWrite(t *testing.T) {
	here := at(t)
	if err := RememberApproval(here, Approval{Digest: "sha256:a"}); err != nil {
		t.Fatal(err)
	}
	path, _ := approvalsFile(here)
	if err := os.Chmod(path, 0o666); err != nil {
		t.Fatal(err)
	}
	if ok, err := IsApproved(here, []string{"sha256:a"}); ok || err == nil {
		t.Errorf("%v, %v", ok, err)
	}
	if err := os.WriteFile(path, []byte("{\n[]\n{\"digest\":\"\"}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	_ = os.Chmod(path, 0o600)
	if ok, err := IsApproved(here, []string{""}); ok || err != nil {
		t.Errorf("%v, %v", ok, err)
	}
}

func TestRemember_KeepsTheNewest(t *testing.T) {
	here := at(t)
	path, _ := approvalsFile(here)
	var notes []Approval
	for i := range 2*minKeptApprovals + 1 {
		notes = append(notes, Approval{Digest: fmt.Sprint(i)})
	}
	if err := writeApprovals(path, notes); err != nil {
		t.Fatal(err)
	}
	if err := RememberApproval(here, Approval{Digest: "new"}); err != nil {
		t.Fatal(err)
	}
	for digest, want := range map[string]bool{"0": false, fmt.Sprint(minKeptApprovals + 1): false, fmt.Sprint(minKeptApprovals + 2): true, "new": true} {
		if ok, _ := IsApproved(here, []string{digest}); ok != want {
			t.Errorf("%s: %v", digest, ok)
		}
	}
}

// TestRemember_AfterAHalfWrittenLine: a process that was killed while it wrote costs no later approval.
func TestRemember_AfterAHalfWrittenLine(t *testing.T) {
	here := at(t)
	path, _ := approvalsFile(here)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(`{"digest":"sha256:`), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := RememberApproval(here, Approval{Digest: "sha256:a"}); err != nil {
		t.Fatal(err)
	}
	if ok, err := IsApproved(here, []string{"sha256:a"}); !ok || err != nil {
		t.Errorf("%v, %v", ok, err)
	}
}

// TestRemember_KeepsApprovalsOfTheSameMoment: rollouts that begin at the same moment keep all their approvals.
func TestRemember_KeepsApprovalsOfTheSameMoment(t *testing.T) {
	here := at(t)
	var all sync.WaitGroup
	for i := range 50 {
		all.Go(func() {
			if err := RememberApproval(here, Approval{Digest: fmt.Sprint("sha256:", i)}); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	for i := range 50 {
		if ok, err := IsApproved(here, []string{fmt.Sprint("sha256:", i)}); !ok || err != nil {
			t.Errorf("%d is lost: %v", i, err)
		}
	}
}

func TestClusterIdentities_TellClustersApart(t *testing.T) {
	ctx := t.Context()
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "kube-system", UID: "u-1"}}
	one := &rest.Config{Host: "https://a", TLSClientConfig: rest.TLSClientConfig{CAData: []byte("authority")}}
	full := ClusterIdentities(ctx, fake.NewClientset(ns), one)
	bare := ClusterIdentities(ctx, fake.NewClientset(), one)
	if len(full) != 2 || full[0] != "uid:u-1" || len(bare) != 1 || bare[0] != full[1] {
		t.Errorf("%q, %q", full, bare)
	}
	if got := ClusterIdentities(ctx, fake.NewClientset(), &rest.Config{Host: "http://a"}); len(got) != 1 || got[0] != "server:http://a" {
		t.Errorf("%q", got)
	}
	p := &plan.Plan{}
	if d := ApprovalDigests(p, full); len(d) != 2 || d[0] == d[1] || d[1] != ApprovalDigests(p, bare)[0] {
		t.Errorf("%q", d)
	}
}
