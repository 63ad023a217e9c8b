package kube

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/distort"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/planfile"
)

// TestPastRollouts_AreKept: a plan that takes the place of another leaves it in the record, and changes of
// the rollout leave the past as it is.
func TestPastRollouts_AreKept(t *testing.T) {
	r := failingRecords("create")
	for i := range 3 {
		if _, err := r.Begin(t.Context(), web, metav1.OwnerReference{}, onePlan, nil, fmt.Sprint("anna-", i)); err != nil {
			t.Fatal(err)
		}
		_, err := r.Change(t.Context(), web, "kim", func(rec *plan.Record) (err error) {
			rec.Progress, err = rec.Progress.Abort(rec.Plan, "aborted by kim")
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	rec, err := r.Load(t.Context(), web)
	if err != nil || rec.PastFault != "" || len(rec.Past) != 2 {
		t.Fatalf("%v %q %+v", err, rec.PastFault, rec.Past)
	}
	for i, p := range rec.Rollouts() {
		if p.Result != plan.RolloutAborted || p.By != fmt.Sprint("anna-", 2-i) || p.Ended.IsZero() {
			t.Errorf("%d: %+v", i, p)
		}
	}
}

// TestPastRollouts_EditedOnesAreLeftOut: what users write into the past of a record is left out and reported, and
// does not block the rollout itself.
func TestPastRollouts_EditedOnesAreLeftOut(t *testing.T) {
	huge := compress(bytes.Repeat([]byte(" "), 8<<20))
	for name, text := range map[string][]byte{
		"no gzip": []byte("nonsense"), "no JSON": compress([]byte("{")), "another shape": compress([]byte(`{"a": 1}`)), "a bomb": huge,
		"wrong types": compress([]byte(`[{"begun": 7}]`)), "a step that is none": compress([]byte(`[{"steps": [7]}]`)),
	} {
		t.Run(name, func(t *testing.T) {
			r := failingRecords("create")
			if _, err := r.Begin(t.Context(), web, metav1.OwnerReference{}, onePlan, nil, "anna"); err != nil {
				t.Fatal(err)
			}
			edit(t, r, text)
			rec, err := r.Load(t.Context(), web)
			if err != nil || rec.PastFault == "" || len(rec.Past) != 0 || len(rec.Plan.Steps) != 1 {
				t.Fatalf("%v %q %+v", err, rec.PastFault, rec.Past)
			}
			again, err := r.Begin(t.Context(), web, metav1.OwnerReference{}, onePlan, nil, "ben")
			if err != nil || len(again.Past) != 1 || again.PastFault != "" {
				t.Errorf("%v %+v", err, again.Past)
			}
		})
	}
}

// TestPastRollouts_DecideNothing: a past that claims approvals changes neither the progress nor the
// history that decides.
func TestPastRollouts_DecideNothing(t *testing.T) {
	r := failingRecords("create")
	want, err := r.Begin(t.Context(), web, metav1.OwnerReference{}, onePlan, nil, "anna")
	if err != nil {
		t.Fatal(err)
	}
	edit(t, r, compress([]byte(`[{"begun":"2026-03-01T12:00:00Z","result":"completed","progress":{"promoted":true,"free":9},"decisions":[{"at":"2026-03-01T12:00:00Z","by":"root","what":"promote"}]}]`)))
	got, err := r.Load(t.Context(), web)
	if err != nil || got.Progress != want.Progress || len(got.Entries) != len(want.Entries) || len(got.Past) != 1 {
		t.Errorf("%v %+v", err, got)
	}
}

// TestRecords_AreOfTheirWorkload: a record that was edited to name another workload, or what no
// workload can be called, is not read: commands that people copy name it.
func TestRecords_AreOfTheirWorkload(t *testing.T) {
	rec := plan.Record{Ref: web, Plan: onePlan, Begun: stepBegan, By: "anna"}
	for name, c := range map[string]struct {
		change func(*plan.Record)
		want   string
	}{
		"its own":                  {func(*plan.Record) {}, ""},
		"another name":             {func(r *plan.Record) { r.Ref.Name = "pay" }, "it is of cloneset/pay"},
		"another namespace":        {func(r *plan.Record) { r.Ref.Namespace = "bank" }, `in namespace "bank"`},
		"no namespace":             {func(r *plan.Record) { r.Ref.Namespace, r.Plan.Target.Namespace = "", "" }, `cannot be in namespace ""`},
		"a command":                {func(r *plan.Record) { r.Ref.Name = "web; id" }, `"web; id" is not a name of a workload`},
		"a plan for another":       {func(r *plan.Record) { r.Plan.Target.Name = "pay" }, "its plan is for cloneset/pay"},
		"a plan that is a command": {func(r *plan.Record) { r.Plan.Target.Name = "$(id)" }, `"$(id)" is not a name of a workload`},
	} {
		cm, err := Records{}.configMap(rec, metav1.OwnerReference{})
		if err != nil {
			t.Fatal(err)
		}
		edited := rec
		c.change(&edited)
		record, err := json.Marshal(edited)
		if err != nil {
			t.Fatal(err)
		}
		text, _ := planfile.Write(edited.Plan) // it may be no plan
		cm.Data[keyRecord], cm.BinaryData[keyPlan] = string(record), compress(text)
		if _, err = rollouts.read(cm); (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

// TestRecordsList_SeparatesUnreadableRecords: a record that cannot be read hides no other one, and its
// ConfigMap is named.
func TestRecordsList_SeparatesUnreadableRecords(t *testing.T) {
	r := failingRecords("create")
	pay := web
	pay.Name = "pay"
	payPlan := onePlan
	payPlan.Target.Name = "pay"
	for ref, p := range map[cluster.Ref]plan.Plan{web: onePlan, pay: payPlan} {
		if _, err := r.Begin(t.Context(), ref, metav1.OwnerReference{}, p, nil, "anna"); err != nil {
			t.Fatal(err)
		}
	}
	client := r.Client.CoreV1().ConfigMaps("shop")
	_, name := r.location(web)
	whole, err := client.Get(t.Context(), name, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for what, change := range map[string]func(*corev1.ConfigMap){
		"no JSON":      func(cm *corev1.ConfigMap) { cm.Data[keyRecord] = "{" },
		"no record":    func(cm *corev1.ConfigMap) { cm.Data = nil },
		"no plan":      func(cm *corev1.ConfigMap) { delete(cm.BinaryData, keyPlan) },
		"no base":      func(cm *corev1.ConfigMap) { cm.BinaryData[keyBase] = []byte("{}") },
		"another name": func(cm *corev1.ConfigMap) { cm.Data[keyRecord] = strings.ReplaceAll(cm.Data[keyRecord], "web", "api") },
	} {
		edited := whole.DeepCopy()
		change(edited)
		if _, err := client.Update(t.Context(), edited, metav1.UpdateOptions{}); err != nil {
			t.Fatal(err)
		}
		list, unreadable, err := r.List(t.Context(), "")
		if err != nil || len(list) != 1 || list[0].Ref != pay || len(unreadable) != 1 || unreadable[0].Namespace != "shop" || unreadable[0].ConfigMap != name {
			t.Errorf("%s: %v, %d records, unreadable %v", what, err, len(list), unreadable)
		}
		if _, err := r.Load(t.Context(), web); err == nil || !strings.Contains(unreadable[0].Hint(), "kubectl delete configmap "+name+" -n shop") {
			t.Errorf("%s: %v, hint %q", what, err, unreadable[0].Hint())
		}
	}
}

// TestRecordsList_IsBoundedForEachNamespace: what unpacks to a lot is left out of a list and named, and hides
// nothing of another namespace.
func TestRecordsList_IsBoundedForEachNamespace(t *testing.T) {
	r := failingRecords("create")
	honest, err := r.Begin(t.Context(), web, metav1.OwnerReference{}, onePlan, nil, "ann")
	if err != nil {
		t.Fatal(err)
	}
	maps := r.Client.CoreV1().ConfigMaps
	_, name := r.location(web)
	cm, err := maps("shop").Get(t.Context(), name, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	text, err := decompressTo(cm.BinaryData[keyPlan], maxUnpackedBytes)
	if err != nil {
		t.Fatal(err)
	}
	lying := compress([]byte(string(text) + strings.Repeat("#\n", maxNamespaceBytes)))
	copy(lying[len(lying)-4:], []byte{1, 0, 0, 0}) // it claims one byte
	for i, plan := range [][]byte{
		compress([]byte(string(text) + strings.Repeat("#\n", maxNamespaceBytes/3))),
		compress([]byte(string(text) + strings.Repeat("#\n", maxNamespaceBytes/3))),
		compress([]byte(string(text) + strings.Repeat("#\n", maxNamespaceBytes))),
		lying,
	} {
		one := cm.DeepCopy()
		one.Namespace, one.Name, one.BinaryData[keyPlan] = "mallory", fmt.Sprint(name, i), plan
		if _, err := maps("mallory").Create(t.Context(), one, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	list, unreadable, err := r.List(t.Context(), "")
	if err != nil || len(list) != 1 || list[0].Ref != honest.Ref || len(unreadable) != 4 {
		t.Fatalf("%d records, %v, %v", len(list), unreadable, err)
	}
	left := 0
	for _, u := range unreadable {
		if strings.Contains(u.Error(), "left out of the list") {
			left++
		}
	}
	if left != 2 {
		t.Errorf("%d are left out, two unpack to too much: %v", left, unreadable)
	}
}

func edit(t *testing.T, r Records, past []byte) {
	t.Helper()
	namespace, name := r.location(web)
	cm, err := r.Client.CoreV1().ConfigMaps(namespace).Get(t.Context(), name, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	cm.BinaryData[keyPast] = past
	if _, err := r.Client.CoreV1().ConfigMaps(namespace).Update(t.Context(), cm, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
}

// TestPastRollouts_MakeRoomForThePlan: the past has its bound, and makes way for a plan that needs the room.
func TestPastRollouts_MakeRoomForThePlan(t *testing.T) {
	list := make([]plan.PastRollout, 40)
	source := rand.New(rand.NewPCG(1, 2))
	noise := func() string {
		var b strings.Builder
		for range 50 {
			fmt.Fprintf(&b, "%x", source.Uint32())
		}
		return b.String()
	}
	for i := range list {
		list[i] = plan.PastRollout{Begun: time.Unix(int64(i), 0).UTC(), Result: plan.RolloutCompleted, By: noise()}
		for range 200 {
			list[i].Steps = append(list[i].Steps, plan.PastStep{Name: noise(), Title: noise()})
			list[i].Decisions = append(list[i].Decisions, plan.AuditEntry{By: noise(), Detail: noise()})
		}
	}
	for most, atLeast := range map[int]int{maxPastBytes: 3, 10 << 10: 1, 100: 0} {
		out := compressPast(list, most)
		if len(out) > most {
			t.Errorf("%d bytes of %d", len(out), most)
		}
		got, err := readPast(out)
		if err != nil || len(got) < atLeast || len(got) > 10 {
			t.Errorf("%d rollouts in %d bytes, %v", len(got), most, err)
		}
		if len(got) > 0 && !got[len(got)-1].Begun.Equal(list[39].Begun) {
			t.Error("the newest one was dropped")
		}
	}
	text, _ := json.Marshal(plan.Recent(list))
	if len(text) > maxPastUnpackedBytes {
		t.Errorf("what is written takes %d bytes, more than is read", len(text))
	}
}

// FuzzRecord: the ConfigMap of a rollout may hold anything, since others may write it:
// nothing panics, and a record that is taken is written as it is read.
func FuzzRecord(f *testing.F) {
	good, err := Records{}.configMap(plan.Record{Ref: web, Plan: onePlan, By: "ann", Base: map[string]any{"a": "b"}}, metav1.OwnerReference{})
	if err != nil {
		f.Fatal(err)
	}
	packedPlan, err := decompressTo(good.BinaryData[keyPlan], maxUnpackedBytes)
	if err != nil {
		f.Fatal(err)
	}
	const end = "\x1e"
	texts := []string{
		good.Data[keyRecord] + end + string(packedPlan) + end + `{"a": "b"}` + end + "packed",
		`{"progress": {"step": -1}}` + end + string(packedPlan) + end + "null" + end + "packed",
		"[]" + end + "x" + end + "\x1f\x8b\x08" + end,
	}
	distort.Fuzz(f, texts, func(t *testing.T, text string) {
		t.Helper()
		part := append(strings.Split(text, end), "", "", "")
		cm := &corev1.ConfigMap{Data: map[string]string{keyRecord: part[0]}, BinaryData: map[string][]byte{keyPlan: []byte(part[1]), keyBase: []byte(part[2])}}
		if part[3] != "" {
			cm.BinaryData = map[string][]byte{keyPlan: compress([]byte(part[1])), keyBase: compress([]byte(part[2]))}
		}
		rec, err := rollouts.read(cm)
		if err != nil {
			return
		}
		for _, tr := range plan.Transitions() {
			_ = rec.Progress.Allows(tr, rec.Plan)
		}
		_, _ = rec.State(), rec.Describe()
		kept, err := Records{}.configMap(rec, metav1.OwnerReference{})
		if err != nil {
			return // it is too large to be kept
		}
		again, err := rollouts.read(kept)
		if err != nil {
			t.Fatal(err)
		}
		before, err := recordText(rec)
		if err != nil {
			t.Fatal(err)
		}
		after, err := recordText(again)
		if diff := cmp.Diff(string(before), string(after)); diff != "" || err != nil {
			t.Errorf("%v %s", err, diff)
		}
	})
}
