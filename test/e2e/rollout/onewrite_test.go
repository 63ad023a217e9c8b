package rollout

import (
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/changes"
	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/node/life"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/kube"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/simulate"
	testcluster "github.com/kubectl-kruise/kubectl-kruise/test/cluster"
)

var (
	oneWritePairs = flag.Int("pairs", 0, "how many random changes TestRollout_KeepsWhatApplyingKeeps makes, instead of few that have something of everything")
	oneWritePair  = flag.Int("pair", -1, "make the one change of this number only")
)

// united are the numbers from which on changes are of UnitedDeployments.
const united = 1 << 20

// TestRollout_KeepsWhatApplyingKeeps carries random changes out in several ways side by side, each in
// a namespace: the manifest is applied outright, rolled out in one step (with -pairs), rolled out in three steps
// with promotions, and applied by the verb. The spec ends the same, and all keep the pods and claims
// that the first one keeps. The test of this name in pkg/plan/simulate makes 1,500 changes in the model; here
// few have something of everything. Changes that the model refuses are left out.
func TestRollout_KeepsWhatApplyingKeeps(t *testing.T) {
	if *oneWritePair >= 0 {
		eachWay(t, uint64(*oneWritePair))
		return
	}
	var numbers []uint64
	for i := range max(changes.Templates, *oneWritePairs/5) {
		numbers = append(numbers, united+uint64(i))
	}
	for n := uint64(0); len(numbers) < *oneWritePairs; n++ {
		if _, why := expected(t, changes.New(n)); why == "" {
			numbers = append(numbers, n)
		}
	}
	if *oneWritePairs == 0 {
		numbers = append(numbers, covering(t)...)
	}
	atATime(t, 0, uint64(len(numbers)), func(t *testing.T, i uint64) {
		t.Helper()
		eachWay(t, numbers[i])
	})
}

// covering are the numbers of few changes that have each part together, those with most new ones first.
func covering(t *testing.T) (numbers []uint64) {
	t.Helper()
	var open []uint64
	for n := range uint64(400) {
		if _, why := expected(t, changes.New(n)); why == "" {
			open = append(open, n)
		}
	}
	seen := map[string]bool{}
	for {
		var next uint64
		var most []string
		for _, n := range open {
			of := slices.DeleteFunc(parts(changes.New(n)), func(part string) bool { return seen[part] })
			if len(of) > len(most) {
				next, most = n, of
			}
		}
		if len(most) == 0 {
			return numbers
		}
		t.Logf("change %d has %q", next, most)
		for _, part := range most {
			seen[part] = true
		}
		numbers = append(numbers, next)
	}
}

// parts are what a change consists of: its kind where pods are updated, the fields that it edits, and what is special
// about its pods.
func parts(c *changes.Change) (out []string) {
	was, is := c.Old["spec"].(map[string]any), c.New["spec"].(map[string]any)
	for field := range is {
		if !reflect.DeepEqual(was[field], is[field]) {
			out = append(out, field)
		}
	}
	updates := slices.Contains(out, "template") || slices.Contains(out, "containers")
	for part, has := range map[string]bool{
		c.Kind: updates, "hooks": updates && hooked(c), "by the client": updates && c.ByClient(),
		"pods that are named": len(c.Deleted) > 0, "pods that are not ready": len(c.NotReady) > 0,
	} {
		if has {
			out = append(out, part)
		}
	}
	return out
}

// outcome is what a change comes to.
type outcome struct {
	// pods there are, how many of them are of the first subset, are ready, have another revision than all before,
	// and were there before.
	pods, first, ready, updated, kept int
	mode                              rules.UpdateMode
}

// is reports whether it is what is wanted; negative numbers are any.
func (o outcome) is(want outcome) bool {
	for _, n := range [][2]int{{o.pods, want.pods}, {o.first, want.first}, {o.ready, want.ready}, {o.updated, want.updated}, {o.kept, want.kept}} {
		if n[1] >= 0 && n[0] != n[1] {
			return false
		}
	}
	return true
}

// hooked reports whether pods of the workload wait for the answer to a hook.
func hooked(c *changes.Change) bool {
	_, ok := c.New["spec"].(map[string]any)["lifecycle"]
	return ok
}

// expected is what applying the manifest comes to in the model; why is why one of the ways does not
// end there. Where pods wait for others than the controller, it is what rolling out in one step comes to.
func expected(t *testing.T, c *changes.Change) (out outcome, why string) {
	t.Helper()
	const limit = 3 * time.Minute
	for _, steps := range []string{"", "100%", "1,50%,100%"} {
		w, before, next := modelled(t, c)
		if steps == "" {
			must(t, w.Apply(next.Node))
			settled, err := w.Settle(limit)
			must(t, err)
			if !settled {
				return out, "applying takes long"
			}
			out = outcomeOf(t, w, next.Ref, before)
			continue
		}
		snap, err := w.Snapshot(next.Ref)
		must(t, err)
		policy := plan.Policy{}
		policy.Steps, err = plan.ParseSteps(steps)
		must(t, err)
		must(t, policy.PauseAfter("all"))
		p, err := plan.Build(next.Workload, snap, policy)
		if err != nil {
			return out, "no plan: " + err.Error()
		}
		line, err := simulate.Rollout(w, p, simulate.RolloutOptions{Promote: new(time.Duration), Limit: limit})
		must(t, err)
		if line.Summary.Outcome != simulate.Completed {
			reason, _, _ := strings.Cut(line.Summary.Reason, ":")
			return out, fmt.Sprintf("%s %s: %s", c.Kind, line.Summary.Outcome, reason)
		}
		if steps == "100%" && (c.ByClient() || hooked(c)) {
			out = outcomeOf(t, w, next.Ref, before)
		}
		out.mode = p.Change.Mode
	}
	return out, ""
}

// known are the pods before a change.
type known struct {
	uids, revisions map[string]bool
}

func (k known) add(p pod) { k.uids[p.uid], k.revisions[p.revision] = true, true }

// pod is what counts of one, in the model and on a server.
type pod struct {
	uid, subset, revision string
	ready                 bool
}

// revision is that of a pod with these labels, whose sidecar has this image.
func revision(labels map[string]string, side string) string {
	return labels["pod-template-hash"] + labels["controller-revision-hash"] + " " + side
}

func modelPod(p *cluster.Pod) pod {
	side, _ := p.Container("side")
	is, _ := p.Condition(string(corev1.PodReady))
	return pod{p.UID, p.Labels[kruise.SubsetNameLabel], revision(p.Labels, side.Image), is.Status == corev1.ConditionTrue}
}

func serverPod(p *corev1.Pod) pod {
	side := ""
	for i := range p.Spec.Containers {
		if p.Spec.Containers[i].Name == "side" {
			side = p.Spec.Containers[i].Image
		}
	}
	return pod{string(p.UID), p.Labels[kruise.SubsetNameLabel], revision(p.Labels, side), ready(p, p.Spec.Containers[0].Image)}
}

// add counts a pod.
func (o *outcome) add(before known, p pod) {
	o.pods++
	if p.subset == firstSubset {
		o.first++
	}
	if !before.revisions[p.revision] {
		o.updated++
	}
	if p.ready {
		o.ready++
	}
	if before.uids[p.uid] {
		o.kept++
	}
}

// nextWorkload is the new state of a workload in the model.
type nextWorkload struct {
	*cluster.Workload

	Node *tree.Node
}

// modelled is a cluster in the model before the change, with its pods and the new workload.
func modelled(t *testing.T, c *changes.Change) (w *simulate.World, before known, next nextWorkload) {
	t.Helper()
	o, broken := simulate.DefaultOptions(), map[string]bool{}
	o.Agent.Override = func(p *cluster.Pod) simulate.Override {
		main, _ := p.Container("main")
		return simulate.Override{Unready: broken[p.UID] && main.Image == changes.Image}
	}
	begin := func() plan.Snapshot {
		w = simulate.New(o)
		for i := range changes.Nodes {
			w.AddNode(fmt.Sprintf("node-%d", i), nil)
		}
		old := []*tree.Node{tree.FromValue(placed(c.Old, "shop"))}
		read, err := cluster.ReadWorkload(old[0])
		must(t, err)
		if carrier := c.Carrier(); carrier != nil {
			old = append(old, tree.FromValue(placed(carrier, "shop")))
		}
		must(t, w.Apply(old...))
		_, err = w.Settle(time.Hour)
		must(t, err)
		snap, err := w.Snapshot(read.Ref)
		must(t, err)
		return snap
	}
	snap := begin()
	byName := func(a, b *cluster.Pod) int { return strings.Compare(a.Name, b.Name) }
	if len(c.NotReady) > 0 { // they are not ready from the beginning, so that the model knows
		pods := slices.SortedFunc(slices.Values(snap.Pods), byName)
		for _, i := range c.NotReady {
			broken[pods[i].UID] = true
		}
		snap = begin()
	}
	before = known{map[string]bool{}, map[string]bool{}}
	var names []string
	for _, p := range snap.Pods {
		before.add(modelPod(p))
		names = append(names, p.Name)
	}
	next.Node = tree.FromValue(placed(c.Named(names), "shop"))
	var err error
	next.Workload, err = cluster.ReadWorkload(next.Node)
	must(t, err)
	return w, before, next
}

// placed is an object in a namespace. A SidecarSet, which has none, is called like it and selects its pods alone.
func placed(o map[string]any, namespace string) map[string]any {
	out := maps.Clone(o)
	out["metadata"] = map[string]any{"name": "web", "namespace": namespace}
	if o["kind"] == kruise.KindSidecarSet {
		out["metadata"] = map[string]any{"name": namespace}
		spec := maps.Clone(o["spec"].(map[string]any))
		spec["namespaceSelector"] = map[string]any{"matchLabels": map[string]any{corev1.LabelMetadataName: namespace}}
		out["spec"] = spec
	}
	return out
}

// outcomeOf is what has become of the pods in the model.
func outcomeOf(t *testing.T, w *simulate.World, ref cluster.Ref, before known) (o outcome) {
	t.Helper()
	snap, err := w.Snapshot(ref)
	must(t, err)
	for _, p := range snap.Pods {
		if !p.Deleting {
			o.add(before, modelPod(p))
		}
	}
	return o
}

// side is the workload of one way, in its namespace.
type side struct {
	*testcluster.Cluster
	namespace string
	before    known
	// classes are the pods before the change by UID: what the rules tell them apart by. claims are
	// theirs.
	classes, claims map[types.UID]string
	// object is the workload as it was written; file has its new state, and named is it on the command line.
	object      *unstructured.Unstructured
	file, named string
}

// eachWay carries out one change.
func eachWay(t *testing.T, number uint64) {
	t.Helper()
	c, inSubsets := changes.New(number), number >= united
	var want outcome
	if inSubsets {
		c = changes.United(number)
		n, _ := c.New["spec"].(map[string]any)["replicas"].(int)
		want = outcome{pods: n, first: -1, ready: n, updated: -1, kept: -1}
		want.first = inFirst(c.New)
		if !reflect.DeepEqual(templateOf(c.Old), templateOf(c.New)) {
			want.updated = n
		}
	} else {
		var why string
		if want, why = expected(t, c); why != "" {
			t.Skip(why, c)
		}
	}
	verb := []string{"rollout", "run"}
	if inSubsets { // the manifest of one is for the verb apply alone
		verb = []string{"apply"}
	}
	how := func(flags ...string) []string {
		return slices.Concat(flags, []string{"--yes", "--pull-images", "never"})
	}
	ways := []struct {
		name string
		do   func(*testing.T, *side)
	}{
		{"outright", func(t *testing.T, s *side) {
			t.Helper()
			// A ReplicaSet remembers no template: of one that another program has written the client keeps no pod.
			if s.object.GetKind() != kruise.KindReplicaSet {
				s.write(t, s.object)
			}
			if c.ByClient() && !inSubsets {
				s.call(t, how("rollout", "run", "-f", s.file, "--steps", "100%")...)
			}
		}},
		{"one step", func(t *testing.T, s *side) {
			t.Helper()
			s.call(t, how(slices.Concat(verb, []string{"-f", s.file, "--steps", "100%"})...)...)
		}},
		{"three steps", func(t *testing.T, s *side) {
			t.Helper()
			s.promoted(t, inSubsets, how(slices.Concat(verb, []string{"-f", s.file, "--steps", "1,50%,100%", "--pause-after", "all", "--exit-on-pause"})...)...)
		}},
		{"apply", func(t *testing.T, s *side) {
			t.Helper()
			if want.ready < want.pods { // apply waits for all pods, also for those that it does not change
				s.call(t, how("apply", "-f", s.file, "--wait=false")...)
				return
			}
			s.call(t, how("apply", "-f", s.file)...)
		}},
	}
	if *oneWritePair < 0 && *oneWritePairs == 0 {
		ways = slices.Delete(ways, 1, 2) // the model carries that out for 1,500 changes
	}
	left := make([]remains, len(ways))
	atATime(t, 0, uint64(len(ways)), func(t *testing.T, i uint64) {
		t.Helper()
		s := begin(t, c)
		ways[i].do(t, s)
		expects := want
		if i > 0 {
			expects.kept = -1
		}
		s.settle(t, expects)
		left[i] = s.left(t)
	})
	for i, w := range ways[1:] {
		if t.Failed() {
			break
		}
		got := left[i+1]
		if got.spec != left[0].spec {
			t.Errorf("%s: the spec ends as %s, want %s", w.name, got.spec, left[0].spec)
		}
		if c.Exempt(want.mode) != "" {
			continue
		}
		lacks(t, w.name+" keeps", "pods", got.pods, left[0].pods)
		lacks(t, w.name+" keeps", "claims", got.claims, left[0].claims)
	}
	if t.Failed() {
		t.Logf("%s\nagain: go test ./e2e/rollout -run TestRollout_KeepsWhatApplyingKeeps -pair %d", c, number)
	}
}

// lacks compares numbers by class.
func lacks(t *testing.T, who, what string, got, want map[string]int) {
	t.Helper()
	for class, n := range want {
		if got[class] < n {
			t.Errorf("%s %d %s (%s), and applying %d", who, got[class], what, class, n)
		}
	}
}

// firstSubset is the subset of a UnitedDeployment that always has a number of its own.
const firstSubset = "zone-b"

// inFirst is how many pods it has.
func inFirst(united map[string]any) int {
	spec, _ := united["spec"].(map[string]any)
	subsets, _ := spec["topology"].(map[string]any)["subsets"].([]any)
	n, _ := subsets[0].(map[string]any)["replicas"].(int)
	return n
}

// templateOf is the template of pods in a UnitedDeployment.
func templateOf(o map[string]any) any {
	spec, _ := o["spec"].(map[string]any)
	for _, of := range spec["template"].(map[string]any) {
		return of.(map[string]any)["spec"].(map[string]any)["template"]
	}
	return nil
}

// begin is a side before the change, with its pods.
func begin(t *testing.T, c *changes.Change) *side {
	t.Helper()
	cl, namespace := shared(t)
	s := &side{
		Cluster: cl, namespace: namespace, before: known{map[string]bool{}, map[string]bool{}},
		classes: map[types.UID]string{}, claims: map[types.UID]string{},
	}
	s.answerHooks(t)
	n := c.Pods()
	if carrier := c.Carrier(); carrier != nil { // it is injected into pods that are created when its controller knows it
		n = changes.CarriedPods
		s.write(t, &unstructured.Unstructured{Object: plainJSON(t, placed(c.Old, namespace))})
		s.settle(t, outcome{first: -1, updated: -1, kept: -1})
		s.write(t, &unstructured.Unstructured{Object: plainJSON(t, placed(carrier, namespace))})
		s.settle(t, outcome{pods: n, first: -1, ready: n, updated: -1, kept: -1})
	}
	s.write(t, &unstructured.Unstructured{Object: plainJSON(t, placed(c.Old, namespace))})
	s.settle(t, outcome{pods: n, first: -1, ready: n, updated: -1, kept: -1})
	pods := s.pods(t)
	var names []string
	for i := range pods {
		names = append(names, pods[i].Name)
	}
	slices.Sort(names)
	claims := cl.Client().CoreV1().PersistentVolumeClaims(namespace)
	for i := range pods {
		p := &pods[i]
		rank := slices.Index(names, p.Name)
		unready := slices.Contains(c.NotReady, rank)
		s.before.add(serverPod(p))
		s.classes[p.UID] = classOf(p, unready, slices.Contains(c.Deleted, rank))
		for _, v := range p.Spec.Volumes {
			if v.PersistentVolumeClaim == nil {
				continue
			}
			claim, err := claims.Get(t.Context(), v.PersistentVolumeClaim.ClaimName, metav1.GetOptions{})
			must(t, err)
			s.claims[claim.UID] = s.classes[p.UID]
		}
		if unready {
			body := fmt.Sprintf(`{"metadata": {"annotations": {%q: %q}}}`, life.UnreadyAnnotation, changes.Image)
			_, err := cl.Client().CoreV1().Pods(namespace).Patch(t.Context(), p.Name, types.MergePatchType, []byte(body), metav1.PatchOptions{})
			must(t, err)
		}
	}
	s.settle(t, outcome{pods: n, first: -1, ready: n - len(c.NotReady), updated: -1, kept: -1})
	next := plainJSON(t, placed(c.Named(names), namespace))
	s.object = &unstructured.Unstructured{Object: next}
	s.file = filepath.Join(t.TempDir(), "web.yaml")
	text, err := yaml.Marshal(next)
	must(t, err)
	must(t, os.WriteFile(s.file, text, 0o600))
	kind := s.object.GroupVersionKind()
	s.named = strings.ToLower(kind.Kind) + "." + kind.Group + "/" + s.object.GetName()
	return s
}

// answerHooks takes the label away that holds a pod before its update, and puts it back afterwards,
// for as long as the test runs.
func (s *side) answerHooks(t *testing.T) {
	t.Helper()
	pods := s.Client().CoreV1().Pods(s.namespace)
	w, err := pods.Watch(t.Context(), metav1.ListOptions{LabelSelector: "lifecycle.apps.kruise.io/state in (PreparingUpdate, Updated)"})
	must(t, err)
	var over sync.WaitGroup
	t.Cleanup(func() { w.Stop(); over.Wait() })
	over.Go(func() {
		for e := range w.ResultChan() {
			p, ok := e.Object.(*corev1.Pod)
			if !ok || e.Type == watch.Deleted {
				continue
			}
			body, held := `{"metadata": {"labels": {"hook": null}}}`, p.Labels["hook"] == "yes"
			if p.Labels["lifecycle.apps.kruise.io/state"] == "Updated" {
				body, held = `{"metadata": {"labels": {"hook": "yes"}}}`, p.Labels["hook"] == ""
			}
			if held {
				// A pod that is gone by now needs no answer, and one that got none is waited for in vain.
				_, _ = pods.Patch(t.Context(), p.Name, types.MergePatchType, []byte(body), metav1.PatchOptions{})
			}
		}
	})
}

var ordinal = regexp.MustCompile(`-(\d+)$`)

// classOf is what the rules tell a pod apart by: its subset and ordinal, where it has one, or whether it
// was ready and named for deletion.
func classOf(p *corev1.Pod, unready, deleted bool) string {
	class := p.Labels["apps.kruise.io/subset-name"]
	if o := metav1.GetControllerOf(p); o != nil && o.Kind == "StatefulSet" {
		return class + ordinal.FindString(p.Name)
	}
	return fmt.Sprintf("%s not ready %t, named %t", class, unready, deleted)
}

// plainJSON is an object as a JSON decoder makes it.
func plainJSON(t *testing.T, o map[string]any) map[string]any {
	t.Helper()
	text, err := json.Marshal(o)
	must(t, err)
	u := &unstructured.Unstructured{}
	must(t, u.UnmarshalJSON(text))
	return u.Object
}

// write applies an object outright, in the name of the verb apply.
func (s *side) write(t *testing.T, o *unstructured.Unstructured) {
	t.Helper()
	client, err := s.Resource(o, s.namespace)
	must(t, err)
	s.object, err = client.Apply(t.Context(), o.GetName(), o, metav1.ApplyOptions{FieldManager: kube.FieldManager, Force: true})
	must(t, err)
}

func (s *side) call(t *testing.T, args ...string) {
	t.Helper()
	if code, out, said := kubectl(t, s.Cluster, s.namespace, args...); code != 0 {
		t.Fatalf("%s: exit %d\n%s\n%s", strings.Join(args, " "), code, out, said)
	}
}

// promoted promotes a rollout at each of its pauses. The same call continues with the next subset.
func (s *side) promoted(t *testing.T, again bool, args ...string) {
	t.Helper()
	next := args
	for range 20 {
		code, out, said := kubectl(t, s.Cluster, s.namespace, next...)
		switch {
		case code == 0:
			return
		case code != 5:
			t.Fatalf("%s: exit %d\n%s\n%s", strings.Join(next, " "), code, out, said)
		case again:
			s.call(t, "rollout", "promote", s.named, "--no-wait")
		default:
			next = []string{"rollout", "promote", s.named, "--exit-on-pause"}
		}
	}
	t.Fatal("it waits for a promotion for the twentieth time")
}

func (s *side) pods(t *testing.T) []corev1.Pod {
	t.Helper()
	list, err := s.Client().CoreV1().Pods(s.namespace).List(t.Context(), metav1.ListOptions{})
	must(t, err)
	return slices.DeleteFunc(list.Items, func(p corev1.Pod) bool { return p.DeletionTimestamp != nil })
}

// settle waits until the controller has acted upon the object and its pods have come to a state;
// negative numbers are any.
func (s *side) settle(t *testing.T, want outcome) {
	t.Helper()
	client, err := s.Resource(s.object, s.namespace)
	must(t, err)
	_, err = testcluster.Await(t.Context(), client, s.object.GetName(), func(_ watch.EventType, u *unstructured.Unstructured) bool {
		seen, _, _ := unstructured.NestedInt64(u.Object, "status", "observedGeneration")
		return seen >= u.GetGeneration()
	})
	must(t, err)
	var last outcome
	settled := func() bool {
		last = outcome{}
		pods := s.pods(t) // what is told by a watch begins with one pod after the other
		for i := range pods {
			last.add(s.before, serverPod(&pods[i]))
		}
		return last.is(want)
	}
	if settled() { // where no pod is, no event comes
		return
	}
	now := map[types.UID]pod{}
	_, err = testcluster.Await(t.Context(), s.Client().CoreV1().Pods(s.namespace), "", func(what watch.EventType, p *corev1.Pod) bool {
		if now[p.UID] = serverPod(p); what == watch.Deleted || p.DeletionTimestamp != nil {
			delete(now, p.UID)
		}
		told := outcome{}
		for _, p := range now {
			told.add(s.before, p)
		}
		return told.is(want) && settled()
	})
	if err != nil {
		t.Fatalf("%v: it is %+v, want %+v", err, last, want)
	}
}

// forgets waits until the workload names no pod for deletion any more: its controller forgets those that are gone.
func (s *side) forgets(t *testing.T) *unstructured.Unstructured {
	t.Helper()
	client, err := s.Resource(s.object, s.namespace)
	must(t, err)
	u, err := testcluster.Await(t.Context(), client, s.object.GetName(), func(_ watch.EventType, u *unstructured.Unstructured) bool {
		names, _, _ := unstructured.NestedStringSlice(u.Object, "spec", "scaleStrategy", "podsToDelete")
		return len(names) == 0
	})
	must(t, err)
	return u
}

// remains are what is there in the end: the spec, and of what was there before so many of each class.
type remains struct {
	spec         string
	pods, claims map[string]int
}

func (s *side) left(t *testing.T) remains {
	t.Helper()
	out := remains{pods: map[string]int{}, claims: map[string]int{}}
	for _, p := range s.pods(t) {
		if class, ok := s.classes[p.UID]; ok {
			out.pods[class]++
		}
	}
	claims, err := s.Client().CoreV1().PersistentVolumeClaims(s.namespace).List(t.Context(), metav1.ListOptions{})
	must(t, err)
	for i := range claims.Items {
		if class, ok := s.claims[claims.Items[i].UID]; ok && claims.Items[i].DeletionTimestamp == nil {
			out.claims[class]++
		}
	}
	spec, _ := s.forgets(t).Object["spec"].(map[string]any)
	for _, path := range [][]string{{"updateStrategy", "partition"}, {"updateStrategy", "rollingUpdate", "partition"}} {
		if n, _, _ := unstructured.NestedFieldNoCopy(spec, path...); n == int64(0) {
			unstructured.RemoveNestedField(spec, path...) // none is 0
		}
	}
	if rest, there, _ := unstructured.NestedMap(spec, "scaleStrategy"); there && (len(rest) == 0 || len(rest) == 1 && rest["enablePVCReuse"] == false) {
		unstructured.RemoveNestedField(spec, "scaleStrategy") // the default of a mapping whose only field the controller has forgotten
	}
	claimTemplates, _, _ := unstructured.NestedFieldNoCopy(spec, "volumeClaimTemplates")
	list, _ := claimTemplates.([]any)
	for i := range list {
		unstructured.RemoveNestedField(list[i].(map[string]any), "status") // Kruise fills it in, and the stand-in does not
	}
	unstructured.RemoveNestedField(spec, "namespaceSelector")                                          // of a SidecarSet, which names the namespace
	unstructured.RemoveNestedField(spec, "template", "metadata", "labels", "controller-revision-hash") // the client marks the template of a ReplicaSet
	text, err := json.Marshal(spec)
	must(t, err)
	out.spec = string(text)
	return out
}
