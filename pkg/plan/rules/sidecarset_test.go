package rules

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

const meshSpec = `
selector: {matchLabels: {app: web}}
containers: [{name: mesh, image: "mesh:2"}]
`

// sidecarSet makes the set "side" at hash n and pods as [pods] does, with the
// container mesh of image mesh:1 (revision o) or mesh:2 (n). A revision x
// differs in more than the image.
func sidecarSet(t *testing.T, spec, words string) *SidecarSet {
	t.Helper()
	s := &SidecarSet{Name: "side", Spec: &kruise.SidecarSetSpec{}, Hash: "n", HashWithoutImage: "w", ResourceVersion: "1000", Revision: "side-n"}
	decode(t, spec, s.Spec)
	s.Pods = pods(t, words)
	for _, p := range s.Pods {
		revision, image, without := cluster.Hash(RevisionOf(p)), "mesh:1", "w"
		switch revision {
		case "n":
			image = "mesh:2"
		case "x":
			without = "other"
		}
		p.Labels["app"] = "web"
		p.Annotations = map[string]string{
			kruise.SidecarSetInjectedListAnnotation:       "a,side",
			kruise.SidecarSetHashAnnotation:               fmt.Sprintf(`{"side":{"hash":%q},"a":{"hash":"z"}}`, revision),
			kruise.SidecarSetHashWithoutImageAnnotation:   fmt.Sprintf(`{"side":{"hash":%q}}`, without),
			kruise.SidecarSetInPlaceUpdateStateAnnotation: `{"a":{"revision":"z"}}`,
		}
		p.Containers = append(p.Containers, cluster.Container{
			Name: "mesh", Image: image, Reported: true, StatusImage: image, ImageID: "sha256:" + image, Ready: podReady(p),
		})
	}
	return s
}

func TestSidecarSet_Matched(t *testing.T) {
	for _, c := range []struct {
		name, spec string
		edit       func(*cluster.Pod)
		want       bool
	}{
		{"matches", meshSpec, func(*cluster.Pod) {}, true},
		{"other label", meshSpec, func(p *cluster.Pod) { p.Labels["app"] = "db" }, false},
		{"no selector", "containers: [{name: mesh}]", func(*cluster.Pod) {}, false},
		{"empty selector", "selector: {}\ncontainers: [{name: mesh}]", func(*cluster.Pod) {}, false},
		{"terminating", meshSpec, func(p *cluster.Pod) { p.Deleting = true }, false},
		{"never injected", meshSpec, func(p *cluster.Pod) { delete(p.Annotations, kruise.SidecarSetInjectedListAnnotation) }, false},
		{"other set injected", meshSpec, func(p *cluster.Pod) { p.Annotations[kruise.SidecarSetInjectedListAnnotation] = "sidecar,a" }, false},
		{"container missing", meshSpec + "- {name: log}", func(*cluster.Pod) {}, false},
		{"namespace matches", meshSpec + "namespaceSelector: {matchLabels: {team: a}}", func(p *cluster.Pod) { p.Namespace = "shop" }, true},
		{"other namespace", meshSpec + "namespaceSelector: {matchLabels: {team: b}}", func(p *cluster.Pod) { p.Namespace = "shop" }, false},
		{"unknown namespace", meshSpec + "namespaceSelector: {matchLabels: {team: a}}", func(p *cluster.Pod) { p.Namespace = "gone" }, false},
		{"no namespace is default", meshSpec + "namespaceSelector: {matchLabels: {team: d}}", func(*cluster.Pod) {}, true},
		{"hot: both containers and the working entry", hotSpec, func(p *cluster.Pod) { heat(p, "mesh:1", "empty", "mesh-1") }, true},
		{"hot: no working entry", hotSpec, func(p *cluster.Pod) {
			heat(p, "mesh:1", "empty", "mesh-1")
			p.Annotations[kruise.SidecarSetWorkingHotUpgradeAnnotation] = "{}"
		}, false},
		{"hot: not a pair", hotSpec, func(p *cluster.Pod) { heat(p, "mesh:1", "empty", "mesh-1"); p.Containers = p.Containers[:2] }, false},
	} {
		s := sidecarSet(t, strings.Replace(c.spec, "\n- {name: log}", "", 1), "o")
		if strings.Contains(c.spec, "- {name: log}") {
			s.Spec.Containers = append(s.Spec.Containers, kruise.SidecarContainer{})
			s.Spec.Containers[1].Name = "log"
		}
		s.Namespaces = map[string]map[string]string{"shop": {"team": "a"}, "default": {"team": "d"}}
		c.edit(s.Pods[0])
		if got := len(s.Matched()) == 1; got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}

func TestSidecarSet_ChooseUpdate(t *testing.T) {
	with := func(strategy string) string { return meshSpec + "updateStrategy: {" + strategy + "}" }
	for _, c := range []struct{ name, spec, pods, want, order, refused, why string }{
		{"one at a time", meshSpec, "4*o", "p4", "p4 p3 p2 p1", "", "p3 waits"},
		{"upgraded, not ready", meshSpec, "3*o n!", "", "p3 p2 p1", "", "p3 waits"},
		{"E16", with("partition: 30%, maxUnavailable: 25%"), "8*o n n!", "p8 p7", "p8 p7 p6 p5 p4", "", "p6 waits"},
		{"E16 with two unready", with("partition: 30%, maxUnavailable: 25%"), "6*o 2*o! n n!", "p8 p7 p6 p5", "p8 p7 p6 p5 p4", "", "p4 waits"},
		{"302 half of 5 is three", with("maxUnavailable: 50%"), "5*o", "p5 p4 p3", "p5 p4 p3 p2 p1", "", "p2 waits"},
		{"303 partition", with("partition: 3"), "5*o", "p5", "p5 p4", "", "p4 waits"},
		{"303 half of 5 keeps three", with("partition: 50%"), "3*o 2*n", "", "", "", "the partition keeps 3"},
		{"303 done", with("partition: 3"), "3*o 2*n", "", "", "", "the partition keeps 3"},
		{"nothing unavailable: unready ones only", with("maxUnavailable: 0"), "2*o o!", "p3", "p3 p2 p1", "", "p2 waits"},
		{"310 unready is free, but counts afterwards", meshSpec, "2*o o!", "p3 p2", "p3 p2 p1", "", "p1 waits"},
		{"307 cannot be upgraded", meshSpec, "o x", "p1", "p1", "p2", "all"},
		{"only such", meshSpec, "2*x", "", "", "p1 p2", "no pod waits"},
		{"they do not count towards the partition", with("partition: 1"), "2*o x", "p2", "p2", "p3", "all"},
		{"305 paused", with("paused: true"), "2*o", "", "", "", "paused"},
		{"313 NotUpdate", with("type: NotUpdate"), "2*o", "", "", "", "NotUpdate"},
		{"done", meshSpec, "2*n", "", "", "", "no pod waits"},
		{"304 selector", with("selector: {matchLabels: {app: other}}"), "2*o", "", "", "", "no pod waits"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := sidecarSet(t, c.spec, c.pods).ChooseUpdate()
			if names(got.Pods) != c.want || names(got.Order) != c.order || names(got.Refuse) != c.refused {
				t.Errorf("takes %q of %q, refused %q", names(got.Pods), names(got.Order), names(got.Refuse))
			}
			if !strings.Contains(got.Why, c.why) || len(got.Flip) > 0 {
				t.Errorf("why %q, flips %q", got.Why, names(got.Flip))
			}
		})
	}
}

// TestSidecarSet_Order: priority and scatter as for a CloneSet; the value *
// stands for every value.
func TestSidecarSet_Order(t *testing.T) {
	s := sidecarSet(t, meshSpec+"updateStrategy: {priorityStrategy: {weightPriority: [{weight: 1, matchSelector: {matchLabels: {tier: high}}}]}}", "4*o")
	s.Pods[0].Labels["tier"] = "high"
	if got := names(s.ChooseUpdate().Order); got != "p1 p4 p3 p2" {
		t.Errorf("priority: %s", got)
	}
	s = sidecarSet(t, meshSpec+`updateStrategy: {scatterStrategy: [{key: shard, value: "*"}]}`, "6*o")
	for i, p := range s.Pods {
		p.Labels["shard"] = string("aabbbb"[i])
	}
	one := sidecarSet(t, meshSpec+"updateStrategy: {scatterStrategy: [{key: shard, value: a}, {key: shard, value: b}]}", "6*o")
	one.Pods = s.Pods
	if got, want := names(s.ChooseUpdate().Order), names(one.ChooseUpdate().Order); got != want {
		t.Errorf("* gives %s, every value by hand %s", got, want)
	}
}

func TestSidecarSet_InFlight(t *testing.T) {
	s := sidecarSet(t, meshSpec, "o")
	p := s.Pods[0]
	side := &p.Containers[1]
	record := func(imageID string) {
		p.Annotations[kruise.SidecarSetInPlaceUpdateStateAnnotation] = fmt.Sprintf(`{"side":{"lastContainerStatuses":{"mesh":{"imageID":%q}}}}`, imageID)
	}
	check := func(name string, want bool) {
		t.Helper()
		if got := s.InFlight(p); got != want {
			t.Errorf("%s: %v", name, got)
		}
	}
	check("never upgraded", false)
	side.Image = "mesh:2"
	check("no record of an upgrade", false)
	record("sha256:mesh:1")
	check("the old image still runs, ready", true)
	side.Ready = false
	check("not ready any more", false)
	side.Ready, side.ImageID = true, "sha256:mesh:2"
	check("another image runs", false)
	side.ImageID, side.StatusImage = "sha256:mesh:1", "mesh:2"
	check("the same content under the new name", false)
	p.Containers[0].Reported = false
	check("another container has no status", true)
}

func TestSidecarSet_ComparesImagesByDigest(t *testing.T) {
	s := sidecarSet(t, meshSpec, "o")
	side := &s.Pods[0].Containers[1]
	for _, c := range []struct {
		image, id string
		want      bool
	}{
		{"reg/mesh@sha256:ab", "reg/mesh@sha256:ab", true},
		{"reg/mesh@sha256:ab", "docker-pullable://reg/mesh@sha256:ab", true},
		{"reg:5000/mesh:1@sha256:ab", "reg:5000/mesh@sha256:ab", true},
		{"reg/mesh@sha256:ab", "reg/mesh@sha256:cd", false},
		{"reg/mesh@sha256:ab", "other/mesh@sha256:ab", false},
	} {
		side.Image, side.ImageID = c.image, c.id
		if got := s.Consistent(s.Pods[0], "mesh"); got != c.want {
			t.Errorf("%s runs %s: %v", c.image, c.id, got)
		}
	}
}

func TestSidecarSet_Counts(t *testing.T) {
	got := sidecarSet(t, meshSpec, "2*o o! 2*n n! x o^").sidecarSetCounts()
	want := kruise.SidecarSetStatus{MatchedPods: 7, UpdatedPods: 3, ReadyPods: 5, UpdatedReadyPods: 2}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestSidecarSet_Pending(t *testing.T) {
	set := &kruise.SidecarSet{}
	set.Generation = 2
	set.Spec.UpdateStrategy.Partition = value("30%")
	rounded := &SidecarSet{Spec: &set.Spec}
	set.Status = kruise.SidecarSetStatus{ObservedGeneration: 2, MatchedPods: 10, UpdatedPods: 7, ReadyPods: 10, UpdatedReadyPods: 7}
	expect(t, "done", rounded.Pending(set), "")
	set.Status.UpdatedReadyPods = 6
	expect(t, "one not ready", rounded.Pending(set), "updatedReadyPods is 6 of 7")
	set.Status.UpdatedReadyPods, set.Status.UpdatedPods = 7, 6
	expect(t, "one old", rounded.Pending(set), "updatedPods is 6 of 7")
	set.Status.UpdatedPods, set.Generation = 8, 3
	expect(t, "not seen", rounded.Pending(set), "generation 3")
}

// TestSidecarSet_Rounding: percentages are rounded down before Kruise 1.7.5, and up since.
func TestSidecarSet_Rounding(t *testing.T) {
	for _, c := range []struct {
		partition, maxUnavailable string
		down                      bool
		kept, most                int
	}{
		{"30%", "30%", false, 3, 3},
		{"30%", "30%", true, 2, 2},
		{"5%", "5%", true, 0, 0},
		{"99%", "100%", true, 6, 7},
		{"99%", "100%", false, 6, 7},
		{"100%", "1%", true, 7, 0},
	} {
		var spec kruise.SidecarSetSpec
		spec.UpdateStrategy.Partition, spec.UpdateStrategy.MaxUnavailable = value(c.partition), value(c.maxUnavailable)
		s := &SidecarSet{Spec: &spec, RoundsDown: c.down}
		if kept, most := s.kept(7), s.MaxUnavailable(7); kept != c.kept || most != c.most {
			t.Errorf("%+v: keeps %d, at most %d", c, kept, most)
		}
	}
}

func TestUpgrade_Patch(t *testing.T) {
	s := sidecarSet(t, meshSpec+"initContainers: [{name: early, restartPolicy: Always}, {name: prepare}]", "o")
	p := s.Pods[0]
	got, err := s.Upgrade(p, now)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]string{"mesh": "mesh:2"}, got.Images); diff != "" {
		t.Error(diff)
	}
	want := map[string]string{
		kruise.SidecarSetHashAnnotation: `{"a":{"hash":"z"},"side":{"updateTimestamp":"2026-07-01T13:00:00Z","hash":"n","sidecarSetName":"side",` +
			`"sidecarList":["early","mesh"],"controllerRevision":"side-n"}}`,
		kruise.SidecarSetInPlaceUpdateStateAnnotation: `{"a":{"revision":"z","updateTimestamp":"","lastContainerStatuses":null},` +
			`"side":{"revision":"n","updateTimestamp":"2026-07-01T13:00:00Z","lastContainerStatuses":{"mesh":{"imageID":"sha256:mesh:1"}}}}`,
	}
	if diff := cmp.Diff(want, got.Annotations); diff != "" {
		t.Error(diff)
	}
	if p.Containers[1].Image != "mesh:1" || !strings.Contains(p.Annotations[kruise.SidecarSetHashAnnotation], `"o"`) {
		t.Error("the pod was changed")
	}
}

// TestUpgrade_KeepsFirstRecord: a later upgrade overwrites only what ran before.
func TestUpgrade_KeepsFirstRecord(t *testing.T) {
	s := sidecarSet(t, meshSpec, "o")
	p := s.Pods[0]
	p.Annotations[kruise.SidecarSetInPlaceUpdateStateAnnotation] = `{"side":{"revision":"first","updateTimestamp":"then","lastContainerStatuses":{"mesh":{"imageID":"older"},"log":{"imageID":"log"}}}}`
	got, err := s.Upgrade(p, now)
	if err != nil {
		t.Fatal(err)
	}
	var state map[string]sidecarState
	if err := json.Unmarshal([]byte(got.Annotations[kruise.SidecarSetInPlaceUpdateStateAnnotation]), &state); err != nil {
		t.Fatal(err)
	}
	want := sidecarState{"first", "then", map[string]recordedStatus{"mesh": {"sha256:mesh:1"}, "log": {"log"}}}
	if diff := cmp.Diff(want, state["side"]); diff != "" {
		t.Error(diff)
	}
}

func TestUpgrade_RefusesUnreadable(t *testing.T) {
	for _, key := range []string{kruise.SidecarSetHashAnnotation, kruise.SidecarSetInPlaceUpdateStateAnnotation} {
		s := sidecarSet(t, meshSpec, "o")
		s.Pods[0].Annotations[key] = "{"
		if _, err := s.Upgrade(s.Pods[0], now); err == nil || !strings.Contains(err.Error(), key) {
			t.Errorf("%s: %v", key, err)
		}
	}
}

const sidecarSpec = `
selector: {matchLabels: {app: web}}
containers:
- {name: mesh, image: "mesh:1", env: [{name: A, value: b}]}
- {name: log, image: "log:1"}
initContainers:
- {name: early, image: "early:1", restartPolicy: Always}
- {name: prepare, image: "prepare:1"}
volumes: [{name: data, emptyDir: {}}]
updateStrategy: {partition: 0}
`

func TestSidecarSet_Eligible(t *testing.T) {
	for _, c := range []struct {
		name, from, to string
		mode           UpdateMode
		fields         string
		restarts       string
	}{
		{"nothing", "", "", ModeUnchanged, "", ""},
		{"strategy", "partition: 0", "partition: 3", ModeUnchanged, "", ""},
		{"image", "mesh:1", "mesh:2", ModeInPlace, "spec.containers[0].image image", "mesh"},
		{"env", "value: b", "value: c", ModeNotAllowed, "spec.containers[0].env[0].value recreate", ""},
		{"native sidecar image", "early:1", "early:2", ModeUnchanged, "spec.initContainers[0].image newPods", ""},
		{"native sidecar env", `"early:1",`, `"early:1", env: [],`, ModeNotAllowed, "spec.initContainers[0].env recreate", ""},
		{"init container", "prepare:1", "prepare:2", ModeUnchanged, "spec.initContainers[1].image newPods", ""},
		{"init container beside a native sidecar", `"prepare:1"}`, `"prepare:1", args: [x]}`, ModeNotAllowed, "spec.initContainers[1].args recreate", ""},
		{"native sidecar removed", "- {name: early, image: \"early:1\", restartPolicy: Always}\n", "", ModeNotAllowed, "spec.initContainers[0].image newPods, spec.initContainers[0].name recreate, spec.initContainers[0].restartPolicy recreate, spec.initContainers[1] recreate", ""},
		{"no native sidecar any more", ", restartPolicy: Always", "", ModeNotAllowed, "spec.initContainers[0].restartPolicy recreate", ""},
		{"volumes", "emptyDir: {}", "emptyDir: {medium: Memory}", ModeUnchanged, "spec.volumes[0].emptyDir.medium newPods", ""},
		{"container removed", "- {name: log, image: \"log:1\"}\n", "", ModeNotAllowed, "spec.containers[1] recreate", ""},
		{"first secret", "volumes:", "imagePullSecrets: [{name: reg}]\nvolumes:", ModeUnchanged, "spec.imagePullSecrets[0] newPods", ""},
	} {
		got := SidecarSetEligible(template(t, sidecarSpec), template(t, strings.Replace(sidecarSpec, c.from, c.to, 1)))
		if got.Mode != c.mode || fieldText(got) != c.fields || strings.Join(got.Restarts, " ") != c.restarts || got.Why == "" {
			t.Errorf("%s: %s (%s): %s, restarts %v", c.name, got.Mode, got.Why, fieldText(got), got.Restarts)
		}
	}
}

// TestSidecarHash reads the annotation in every form that a pod may have it in;
// only the first is found without reading the JSON.
func TestSidecarHash(t *testing.T) {
	for name, c := range map[string]struct {
		text, want string
		fast       bool
	}{
		"as Kruise writes it":       {`{"mesh":{"updateTimestamp":"2026-07-01T12:00:00Z","hash":"abc","sidecarSetName":"mesh"}}`, "abc", true},
		"beside another":            {`{"log":{"updateTimestamp":"x","hash":"one"},"mesh":{"updateTimestamp":"x","hash":"two"}}`, "two", true},
		"a longer name before it":   {`{"big-mesh":{"updateTimestamp":"x","hash":"one"},"mesh":{"updateTimestamp":"x","hash":"two"}}`, "two", true},
		"only a longer name":        {`{"big-mesh":{"updateTimestamp":"x","hash":"one"}}`, "", false},
		"other order":               {`{"mesh":{"hash":"abc","updateTimestamp":"x"}}`, "abc", false},
		"spaces":                    {`{"mesh": {"updateTimestamp": "x", "hash": "abc"}}`, "abc", false},
		"something between":         {`{"mesh":{"updateTimestamp":"x","a":"b","hash":"abc"}}`, "abc", false},
		"older form":                {`{"mesh":"abc"}`, "abc", false},
		"an escape in the hash":     {`{"mesh":{"updateTimestamp":"x","hash":"a\u0062c"}}`, "abc", false},
		"the name inside of a text": {`{"log":{"updateTimestamp":"x","hash":"one","note":"\"mesh\":{\"updateTimestamp\":\"x\",\"hash\":\"no\""}}`, "", false},
		"cut off":                   {`{"mesh":{"updateTimestamp":"x`, "", false},
		"cut off later":             {`{"mesh":{"updateTimestamp":"x","hash":"abc`, "", false},
		"no JSON":                   {`mesh`, "", false},
		"nothing":                   {``, "", false},
		"an entry of another kind":  {`{"mesh":5}`, "", false},
		"an entry without a time":   {`{"mesh":{"hash":"abc"}}`, "abc", false},
		"another set":               {`{"other":{"hash":"abc"}}`, "", false},
	} {
		p := &cluster.Pod{Annotations: map[string]string{kruise.SidecarSetHashAnnotation: c.text}}
		if got := sidecarHash(p, kruise.SidecarSetHashAnnotation, "mesh"); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
		if _, fast := writtenHash(c.text, "mesh"); fast != c.fast {
			t.Errorf("%s: found without reading: %v", name, fast)
		}
	}
}

// TestSidecarSet_BriefChoiceTakesTheSamePods: what goes now is the same; only the order of what comes
// later is left out.
func TestSidecarSet_BriefChoiceTakesTheSamePods(t *testing.T) {
	for _, c := range []struct{ spec, pods, want string }{
		{meshSpec, "4*o", "p4"},
		{meshSpec, "3*o n!", ""},
		{meshSpec, "2*o o! n!", "p3"},
		{meshSpec + "updateStrategy: {partition: 3}", "3*o n", ""},
		{meshSpec + "updateStrategy: {partition: 2, maxUnavailable: 5}", "5*o", "p5 p4 p3"},
	} {
		s := sidecarSet(t, c.spec, c.pods)
		whole := s.ChooseUpdate()
		s.Brief = true
		got := s.ChooseUpdate()
		if names(got.Pods) != c.want || names(whole.Pods) != c.want || got.Order != nil || got.Why == "" {
			t.Errorf("%s %s: %q of %q (%s), the whole choice %q", c.spec, c.pods, names(got.Pods), names(got.Order), got.Why, names(whole.Pods))
		}
	}
}

// TestUpgrade_KeepsEntriesOfOtherSets: the entries of other sets stay byte by byte.
func TestUpgrade_KeepsEntriesOfOtherSets(t *testing.T) {
	s := sidecarSet(t, meshSpec, "o")
	const other = `"log":{"updateTimestamp":"x","hash":"one","sidecarSetName":"log","sidecarList":["a"],"controllerRevision":"r"}`
	p := s.Pods[0]
	p.Annotations[kruise.SidecarSetHashAnnotation] = `{` + other + `,` + p.Annotations[kruise.SidecarSetHashAnnotation][1:]
	patch, err := s.Upgrade(p, now)
	if err != nil {
		t.Fatal(err)
	}
	if got := patch.Annotations[kruise.SidecarSetHashAnnotation]; !strings.Contains(got, other) {
		t.Errorf("%s", got)
	}
	p.Annotations[kruise.SidecarSetHashAnnotation] = "null"
	if _, err := s.Upgrade(p, now); err != nil {
		t.Error(err)
	}
}
