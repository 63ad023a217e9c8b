package rollout

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const web3 = "registry.example.com/web:3"

// TestStatus_WaitsForWhatWasAppliedAfterARollout: after a run, an undo or a restart, status is the gate
// of the next apply all the same; a partition that holds pods back is part of what was applied.
func TestStatus_WaitsForWhatWasAppliedAfterARollout(t *testing.T) {
	for _, name := range []string{"CloneSet", "Advanced StatefulSet", "Deployment"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBed(t, kinds[name].workload)
			applied := func(next string) {
				t.Helper()
				b.Apply(t, b.namespace, strings.ReplaceAll(b.text, web1, next))
				b.call(t, "rollout", "status", b.typed(), "--timeout", "3m").Wants(t, 0)
				if pods := b.pods(t); running(pods, next) != len(pods) {
					t.Errorf("it ended with %d of %d pods of %s", running(pods, next), len(pods), next)
				}
			}
			b.call(t, "rollout", "run", b.typed(), "--image", "main="+web2, "--pull-images", "never", "--yes").Wants(t, 0)
			b.call(t, "rollout", "status", b.typed()).Wants(t, 0, "successfully rolled out")
			applied(web3)
			b.call(t, "rollout", "undo", b.typed(), "--pull-images", "never", "--yes").Wants(t, 0)
			applied(web1)
			b.call(t, "rollout", "restart", b.typed(), "--yes").Wants(t, 0)
			applied(web2)
			b.call(t, "rollout", "status", b.typed(), "--watch=false").Wants(t, 0, "completed")
		})
	}
}

// TestRun_WithFewerReplicasIsRecorded: fewer replicas with another change of the spec are carried out,
// and the record can be read afterwards.
func TestRun_WithFewerReplicasIsRecorded(t *testing.T) {
	t.Parallel()
	b := newBed(t, kinds["CloneSet"].workload)
	fewer := strings.Replace(strings.Replace(b.text, "replicas: 4", "replicas: 2", 1), "spec:\n", "spec:\n  minReadySeconds: 1\n", 1)
	file := filepath.Join(t.TempDir(), "fewer.yaml")
	must(t, os.WriteFile(file, []byte(fewer), 0o600))
	b.call(t, "rollout", "run", "-f", file, "--yes").Wants(t, 0)
	b.call(t, "rollout", "status", b.typed()).Wants(t, 0, "successfully rolled out")
	if n := len(b.pods(t)); n != 2 {
		t.Errorf("%d pods", n)
	}
}

// TestRun_DiscardsARecordThatCannotBeRead: the hint of every verb names the way out, and the next
// rollout goes ahead with it.
func TestRun_DiscardsARecordThatCannotBeRead(t *testing.T) {
	t.Parallel()
	b := newBed(t, kinds["CloneSet"].workload)
	run := []string{"rollout", "run", b.typed(), "--image", "main=" + web2, "--pull-images", "never", "--yes"}
	b.call(t, run...).Wants(t, 0)
	maps := b.Client().CoreV1().ConfigMaps(b.namespace)
	list, err := maps.List(t.Context(), metav1.ListOptions{LabelSelector: "kubectl-kruise.dev/rollout-of"})
	must(t, err)
	cm := &list.Items[0]
	cm.Data["record"] = "{"
	_, err = maps.Update(t.Context(), cm, metav1.UpdateOptions{})
	must(t, err)
	run[4] = "main=" + web3
	for _, args := range [][]string{{"rollout", "status", b.typed()}, {"rollout", "abort", b.typed()}, run} {
		b.call(t, args...).Wants(t, 1, "that this version can read", "--discard-record", "kubectl delete configmap "+cm.Name+" -n "+b.namespace)
	}
	b.call(t, append(run, "--discard-record")...).Wants(t, 0, "was deleted", "completed")
	if pods := b.pods(t); running(pods, web3) != len(pods) {
		t.Errorf("%d of %d pods are updated", running(pods, web3), len(pods))
	}
}
