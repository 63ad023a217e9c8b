package invariant

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	authnv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
)

var noon = time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)

// Bodies of patches, and images.
const (
	former, newest = "web:1", "web:2"
	first, second  = `{"spec":{"partition":3}}`, `{"spec":{"partition":0}}`
)

// object is JSON as values.
func object(format string, args ...any) (v any) {
	if err := json.Unmarshal(fmt.Appendf(nil, format, args...), &v); err != nil {
		panic(err)
	}
	return v
}

// told numbers writes, one each second, in the order given.
func told(list ...Write) Log {
	for i := range list {
		w := &list[i]
		if w.Version = uint64(i + 1); w.At.IsZero() {
			w.At = noon.Add(time.Duration(i) * time.Second)
		}
		if w.Code == 0 {
			w.Code = 200
		}
	}
	return list
}

// by is a write by an operator.
func by(who string, w Write) Write {
	w.By = who
	return w
}

func later(seconds int, w Write) Write {
	w.At = noon.Add(time.Duration(seconds) * time.Second)
	return w
}

func lease(holder string) Write {
	return Write{Verb: "update", Resource: "leases", Name: "rollout.web", Object: object(`{"spec":{"holderIdentity":%q,"leaseDurationSeconds":4}}`, holder)}
}

// record is the record at a step; more is further JSON of the progress.
func record(step int, more string) Write {
	text, _ := json.Marshal(fmt.Sprintf(`{"progress":{"step":%d%s}}`, step, more))
	return Write{Verb: "patch", Resource: "configmaps", Name: "rollout.web", Body: object(`{"metadata":{"resourceVersion":"1"}}`), Object: object(`{"data":{"record":%s}}`, text)}
}

func patch(body string) Write {
	return Write{Verb: "patch", Resource: "clonesets", Name: "web", Body: object("%s", body), Object: object("%s", body)}
}

// podOf is a write that leaves a pod like this.
func podOf(name, image string, ready bool) Write {
	condition := map[bool]string{true: "True", false: "False"}[ready]
	return Write{Verb: "patch", Resource: "pods", Subresource: "status", Name: name, Object: object(
		`{"metadata":{"uid":%q},"spec":{"containers":[{"image":%[2]q}]},"status":{"containerStatuses":[{"image":%[2]q}],"conditions":[{"type":"Ready","status":%[3]q}]}}`,
		name, image, condition)}
}

// inPlace is a new image for a pod.
func inPlace(name string) Write {
	w := podOf(name, newest, true)
	w.Subresource = ""
	w.Object = object(`{"metadata":{"uid":%q},"spec":{"containers":[{"image":%q}]},"status":{"containerStatuses":[{"image":%q}],"conditions":[{"type":"Ready","status":"True"}]}}`, name, newest, former)
	return w
}

// daemon is a rollout of a DaemonSet by its controller.
const daemon plan.Driver = "daemon"

// gone is a controller's deletion.
func gone(name string) Write {
	w := podOf(name, former, false)
	w.Verb, w.Subresource = "delete", ""
	return w
}

// cleared is the end of a pod whose processes have ended.
func cleared(name string) Write {
	w := gone(name)
	w.Body = object(`{"gracePeriodSeconds":0}`)
	return w
}

// fresh is a pod that has just been made.
func fresh(name, uid string) Write {
	return Write{Verb: "create", Resource: "pods", Name: name, Code: 201, Object: object(`{"metadata":{"uid":%q},"spec":{"containers":[{"image":%q}]}}`, uid, newest)}
}

// ownedBy is a pod of a controller.
func ownedBy(pod, kind, name string) Write {
	return Write{Verb: "create", Resource: "pods", Name: pod, Code: 201, Object: object(`{"metadata":{"uid":"1","ownerReferences":[{"kind":%q,"name":%q,"controller":true}]},"spec":{}}`, kind, name)}
}

func evict(name string) Write {
	return Write{Verb: "create", Resource: "pods", Subresource: "eviction", Name: name, Code: 201}
}

// rollout is one of three pods in two steps, by a driver.
func rollout(driver plan.Driver) *Rollout {
	kind := map[plan.Driver]plan.StepKind{plan.DriverKruise: plan.StepPartition, plan.DriverClient: plan.StepInPlace}[driver]
	return &Rollout{Resource: "clonesets", Name: "web", State: "rollout.web", Image: newest, Plan: plan.Plan{
		Target: plan.Target{APIVersion: "apps.kruise.io/v1beta1", Kind: "CloneSet", Name: "web"},
		Driver: driver, Limits: plan.Limits{Replicas: 3, MaxUnavailable: 1},
		Steps: []plan.Step{
			{Name: "one", Kind: kind, Updated: 1, Patches: []plan.Patch{{Body: object(first)}}},
			{Name: "rest", Kind: kind, Updated: 3, Patches: []plan.Patch{{Body: object(second)}}},
		},
	}}
}

// three are the pods before.
func three(then ...Write) []Write {
	return append([]Write{podOf("a", former, true), podOf("b", former, true), podOf("c", former, true)}, then...)
}

// TestInvariants_AreBrokenByTheirFault: each is broken by what it is there for, and by nothing else.
func TestInvariants_AreBrokenByTheirFault(t *testing.T) {
	const lag = 10 * time.Second
	in := map[string]func(Log, *Rollout) []string{
		"inside": Inside, "leased": Leased, "stepwise": Stepwise, "once": Once, "ended": Ended, "released": Released, "restored": Restored, "approved": Approved, "owned": Owned,
		"announced": func(l Log, r *Rollout) []string { return Announced(l, r, lag) },
		"budget":    func(l Log, r *Rollout) []string { return Budget(l, r, lag) },
		"served":    func(l Log, r *Rollout) []string { return Served(l, r, lag) },
	}
	over := `,"finished":"2026-06-01T12:00:00Z"`
	for name, c := range map[string]struct {
		rule   string
		driver plan.Driver
		log    []Write
		want   string
	}{
		"workload":               {"inside", plan.DriverKruise, []Write{by("anna", patch(first)), by("anna", record(0, "")), by("anna", lease("anna"))}, ""},
		"other workload":         {"inside", plan.DriverKruise, []Write{by("anna", Write{Verb: "patch", Resource: "clonesets", Name: "db"})}, "outside"},
		"refused, all the same":  {"inside", plan.DriverKruise, []Write{by("anna", Write{Verb: "delete", Resource: "clonesets", Name: "web", Code: 403})}, "outside"},
		"pods of a controller":   {"inside", plan.DriverKruise, []Write{by("anna", evict("a"))}, "outside"},
		"pods of the client":     {"inside", plan.DriverClient, []Write{by("anna", evict("a")), by("anna", inPlace("b"))}, ""},
		"another client":         {"inside", plan.DriverKruise, []Write{{Verb: "delete", Resource: "secrets", Name: "x"}}, ""},
		"approved patches":       {"approved", plan.DriverKruise, []Write{patch(`{"spec":{"partition":9,"x":1}}`), by("anna", patch(`{"spec":{"partition":3,"x":1}}`)), by("anna", patch(`{"spec":{"partition":0,"x":1}}`))}, ""},
		"back as it was":         {"approved", plan.DriverKruise, []Write{patch(`{"spec":{"partition":9,"x":1}}`), patch(`{"spec":{"partition":9,"x":2}}`), by("anna", patch(`{"spec":{"partition":9,"x":1}}`))}, ""},
		"another field":          {"approved", plan.DriverKruise, []Write{patch(`{"spec":{"partition":9}}`), by("anna", patch(`{"spec":{"partition":3,"template":{"spec":{"hostNetwork":true}}}}`))}, "/spec/template/spec/hostNetwork becomes \"true\""},
		"a field taken away":     {"approved", plan.DriverKruise, []Write{patch(`{"spec":{"partition":9,"x":1}}`), by("anna", patch(`{"spec":{"partition":9}}`))}, "/spec/x becomes \"\""},
		"pod with the image":     {"approved", plan.DriverClient, three(by("anna", inPlace("a"))), ""},
		"pod with another":       {"approved", plan.DriverClient, three(by("anna", Write{Verb: "patch", Resource: "pods", Name: "a", Object: object(`{"spec":{"containers":[{"image":"evil:1"}]}}`)})), "evil:1"},
		"nothing held":           {"released", plan.DriverKruise, []Write{patch(`{"spec":{"partition":9,"x":1}}`), by("anna", patch(first)), by("anna", patch(second))}, ""},
		"held as before":         {"released", plan.DriverKruise, []Write{patch(`{"spec":{"partition":9}}`), by("anna", patch(second)), by("anna", patch(`{"spec":{"partition":9}}`))}, ""},
		"a partition is left":    {"released", plan.DriverKruise, []Write{patch(`{"spec":{"x":1}}`), by("anna", patch(first))}, "it holds pods of a later change"},
		"a pause is left":        {"released", plan.DriverKruise, []Write{patch(second), by("anna", patch(`{"spec":{"updateStrategy":{"paused":true}}}`))}, "it holds pods of a later change"},
		"a strategy is left":     {"released", plan.DriverKruise, []Write{patch(second), by("anna", patch(`{"spec":{"updateStrategy":{"type":"OnDelete"}}}`))}, "it holds pods of a later change"},
		"restored":               {"restored", plan.DriverKruise, []Write{patch(`{"spec":{"partition":9}}`), by("anna", patch(second)), by("anna", patch(`{"spec":{"partition":9}}`))}, ""},
		"restored to nothing":    {"restored", plan.DriverKruise, []Write{patch(`{"spec":{"x":1}}`), by("anna", patch(first)), by("anna", patch(`{"spec":{"partition":0,"paused":false}}`))}, ""},
		"not restored":           {"restored", plan.DriverKruise, []Write{patch(`{"spec":{"partition":9}}`), by("anna", patch(second))}, "and was 9"},
		"own pod":                {"owned", plan.DriverClient, []Write{ownedBy("a", "CloneSet", "web"), by("anna", evict("a"))}, ""},
		"pod of another":         {"owned", plan.DriverClient, []Write{ownedBy("a", "ReplicaSet", "other"), by("anna", evict("a"))}, "belongs to ReplicaSet/other"},
		"pod of none":            {"owned", plan.DriverClient, three(by("anna", evict("a"))), "belongs to "},
		"held":                   {"leased", plan.DriverKruise, []Write{by("anna", lease("anna")), by("anna", patch(first))}, ""},
		"never held":             {"leased", plan.DriverKruise, []Write{by("anna", patch(first))}, "without"},
		"a command":              {"leased", plan.DriverKruise, []Write{by("carla", record(0, ""))}, ""},
		"let go":                 {"leased", plan.DriverKruise, []Write{by("anna", lease("anna")), by("anna", lease("")), by("anna", patch(first))}, "without"},
		"run out":                {"leased", plan.DriverKruise, []Write{by("anna", lease("anna")), later(5, by("anna", patch(first)))}, "lease ended"},
		"renewal refused":        {"leased", plan.DriverKruise, []Write{by("anna", lease("anna")), later(3, by("anna", Write{Verb: "update", Resource: "leases", Name: "rollout.web", Code: 409})), later(5, by("anna", patch(first)))}, "lease ended"},
		"held by another":        {"leased", plan.DriverKruise, []Write{by("anna", lease("anna")), later(6, by("ben", lease("ben"))), later(7, by("anna", patch(first)))}, "lease ended"},
		"within the step":        {"stepwise", plan.DriverKruise, three(record(0, ""), podOf("a", newest, true)), ""},
		"beyond the step":        {"stepwise", plan.DriverKruise, three(record(0, ""), podOf("a", newest, true), podOf("b", newest, true)), "2 pods are updated"},
		"the next step":          {"stepwise", plan.DriverKruise, three(record(0, ""), podOf("a", newest, true), record(1, ""), podOf("b", newest, true)), ""},
		"evicted beyond":         {"stepwise", plan.DriverClient, three(record(0, ""), by("anna", evict("a")), by("anna", evict("b"))), "2 pods are touched"},
		"after the namespace":    {"stepwise", plan.DriverKruise, three(record(0, ""), Write{Verb: "delete", Resource: "namespaces"}, podOf("a", newest, true), podOf("b", newest, true)), ""},
		"patch of the step":      {"announced", plan.DriverKruise, []Write{record(1, ""), by("anna", patch(`{"metadata":{"uid":"1"},"spec":{"partition":0}}`))}, ""},
		"patch of the next step": {"announced", plan.DriverKruise, []Write{record(0, ""), by("anna", patch(second)), record(1, "")}, "no patch of the recorded step"},
		"patch before all":       {"announced", plan.DriverKruise, []Write{by("anna", patch(first))}, "no patch of the recorded step"},
		"patch of no step":       {"announced", plan.DriverKruise, []Write{record(0, ""), by("anna", patch(`{"spec":{"paused":true}}`))}, "no patch of the recorded step"},
		"pods in no step":        {"announced", plan.DriverKruise, three(record(0, ""), by("anna", inPlace("a"))), "changes no pods"},
		"on hold":                {"announced", plan.DriverKruise, []Write{record(0, `,"held":"by carla"`), later(30, by("anna", patch(first)))}, "the rollout is stopped"},
		"on hold, not heard yet": {"announced", plan.DriverKruise, []Write{record(0, `,"held":"by carla"`), by("anna", patch(first))}, ""},
		"one down":               {"budget", plan.DriverClient, three(record(0, ""), inPlace("a"), podOf("a", newest, true), inPlace("b")), ""},
		"two down":               {"budget", plan.DriverClient, three(record(0, ""), inPlace("a"), inPlace("b")), "2 pods are down"},
		"evicted, and not back":  {"budget", plan.DriverClient, three(record(0, ""), evict("a"), evict("b")), "2 pods are down"},
		"controller deletes":     {"budget", plan.DriverKruise, three(record(0, ""), inPlace("a"), Write{Verb: "delete", Resource: "pods", Name: "b"}), "2 pods are down"},
		"node clears up":         {"budget", plan.DriverKruise, three(record(0, ""), inPlace("a"), Write{Verb: "delete", Resource: "pods", Name: "b", Body: object(`{"gracePeriodSeconds":0}`)}), ""},
		"fell long ago":          {"budget", plan.DriverClient, three(record(0, ""), podOf("a", former, false), later(60, inPlace("b"))), "2 pods are down"},
		"fell a moment ago":      {"budget", plan.DriverClient, three(record(0, ""), podOf("a", former, false), inPlace("b")), ""},
		"lost a moment ago":      {"budget", plan.DriverKruise, three(record(0, ""), cleared("a"), gone("b")), ""},
		"lost long ago":          {"budget", plan.DriverKruise, three(record(0, ""), cleared("a"), later(60, gone("b"))), "2 pods are down"},
		"lost, and another one":  {"budget", plan.DriverKruise, three(record(0, ""), cleared("a"), gone("b"), gone("c")), "2 pods are down"},
		"another of its name":    {"budget", plan.DriverKruise, three(record(0, ""), gone("a"), cleared("a"), fresh("a", "2"), gone("b")), "2 pods are down"},
		"another in its place":   {"budget", plan.DriverKruise, three(record(0, ""), gone("a"), cleared("a"), fresh("d", "d"), gone("b")), "2 pods are down"},
		"broken besides":         {"budget", daemon, three(record(0, ""), podOf("a", former, false), gone("a"), gone("b")), ""},
		"broken a moment ago":    {"budget", daemon, three(record(0, ""), podOf("a", former, false), podOf("a", former, true), gone("a"), gone("b")), ""},
		"broken long ago":        {"budget", daemon, three(record(0, ""), podOf("a", former, false), podOf("a", former, true), later(60, gone("a")), later(61, gone("b"))), "2 pods are down"},
		"two that serve besides": {"budget", daemon, three(record(0, ""), podOf("a", former, false), gone("a"), gone("b"), gone("c")), "3 pods are down, 2 may be"},
		"broken of a CloneSet":   {"budget", plan.DriverKruise, three(record(0, ""), podOf("a", former, false), later(60, gone("a")), later(61, gone("b"))), "2 pods are down"},
		"what is down anyway":    {"budget", plan.DriverClient, three(record(0, ""), podOf("a", former, false), podOf("b", former, false), later(60, inPlace("b"))), ""},
		"each once":              {"once", plan.DriverKruise, []Write{by("anna", patch(first)), by("ben", patch(second))}, ""},
		"twice":                  {"once", plan.DriverKruise, []Write{by("anna", patch(first)), by("ben", patch(first)), by("ben", patch(second))}, "2 times"},
		"refused, and again":     {"once", plan.DriverKruise, []Write{by("anna", Write{Verb: "patch", Resource: "clonesets", Name: "web", Body: object(first), Code: 500}), by("anna", patch(first)), by("anna", patch(second))}, ""},
		"left out":               {"once", plan.DriverKruise, []Write{by("anna", patch(first))}, "never sent"},
		"done":                   {"ended", plan.DriverKruise, []Write{patch(first), patch(second), record(2, over)}, ""},
		"nothing said":           {"ended", plan.DriverKruise, []Write{patch(`{"spec":{}}`), record(2, over)}, ""},
		"record open":            {"ended", plan.DriverKruise, []Write{patch(second), record(1, "")}, "does not say"},
		"halted":                 {"ended", plan.DriverKruise, []Write{patch(second), record(2, over+`,"halted":"x"`)}, "does not say"},
		"partition left":         {"ended", plan.DriverKruise, []Write{patch(first), record(2, over)}, "spec.partition is 3"},
		"annotation left":        {"ended", plan.DriverKruise, []Write{by("anna", patch(`{"metadata":{"annotations":{"x":"y"}},"spec":{"partition":0}}`)), record(2, over)}, "annotation is left: x"},
		"all serve":              {"served", plan.DriverKruise, three(podOf("a", newest, true), podOf("b", newest, true), podOf("c", newest, true), record(2, over)), ""},
		"one never did":          {"served", plan.DriverKruise, three(podOf("a", newest, true), podOf("b", newest, true), podOf("c", newest, false), record(2, over)), "2 of 3 pods serve"},
		"one is of old":          {"served", plan.DriverKruise, three(podOf("a", newest, true), podOf("b", newest, true), record(2, over)), "2 of 3 pods serve"},
		"one fell a moment ago":  {"served", plan.DriverKruise, three(podOf("a", newest, true), podOf("b", newest, true), podOf("c", newest, true), podOf("c", newest, false), record(2, over)), ""},
		"one fell long ago":      {"served", plan.DriverKruise, three(podOf("a", newest, true), podOf("b", newest, true), podOf("c", newest, true), podOf("c", newest, false), later(60, record(2, over))), "2 of 3 pods serve"},
		"one falls afterwards":   {"served", plan.DriverKruise, three(podOf("a", newest, true), podOf("b", newest, true), podOf("c", newest, true), record(2, over), later(60, podOf("c", newest, false)), later(90, record(2, over))), ""},
		"annotation of others":   {"ended", plan.DriverKruise, []Write{patch(`{"metadata":{"annotations":{"x":"y"}},"spec":{"partition":0}}`), record(2, over)}, ""},
	} {
		t.Run(c.rule+"/"+name, func(t *testing.T) {
			r := rollout(c.driver)
			if c.driver == daemon {
				r.Resource, r.Plan.Driver = "daemonsets", plan.DriverKruise
			}
			got := in[c.rule](told(c.log...), r)
			if text := strings.Join(got, "\n"); (text == "") != (c.want == "") || !strings.Contains(text, c.want) {
				t.Errorf("%q, want %q", text, c.want)
			}
		})
	}
}

// TestRead_KeepsTheOrderOfTheServer: the server's own order, for every client, and no dry runs.
func TestRead_KeepsTheOrderOfTheServer(t *testing.T) {
	event := func(second int, name, answer string) auditv1.Event {
		return auditv1.Event{
			Verb: "patch", RequestURI: "/apis", ResponseStatus: &metav1.Status{Code: 200},
			ObjectRef: &auditv1.ObjectReference{Resource: "clonesets", Name: name}, ResponseObject: &runtime.Unknown{Raw: []byte(answer)},
			RequestReceivedTimestamp: metav1.NewMicroTime(noon.Add(time.Duration(second) * time.Second)),
		}
	}
	late, early, without := event(1, "late", `{"metadata":{"resourceVersion":"12"}}`), event(3, "early", `{"metadata":{"resourceVersion":"9"}}`), event(2, "without", `{"kind":"Status"}`)
	early.ImpersonatedUser = &authnv1.UserInfo{Username: "anna"}
	tried := event(0, "tried", `{"metadata":{"resourceVersion":"10"}}`)
	tried.RequestURI += "?dryRun=All"
	var got []string
	for _, w := range Read([]auditv1.Event{late, tried, without, early}) {
		got = append(got, w.Name+" "+w.By)
	}
	if diff := cmp.Diff([]string{"early anna", "late ", "without "}, got); diff != "" {
		t.Error(diff)
	}
}
