package sidecar_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/finding"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/sidecar"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/stage"
)

// world is one run of the stage.
type world struct {
	*stage.Context
	in, out []*resource.Resource
	err     error
}

func objects(tb testing.TB, text string) []*resource.Resource {
	tb.Helper()
	var out []*resource.Resource
	d := yaml.NewDecoder(strings.NewReader(text))
	for {
		var n yaml.Node
		if err := d.Decode(&n); err != nil {
			return out
		}
		out = append(out, resource.Parsed(tree.Root(&n), []byte("raw"), resource.Origin{File: "in.yaml", Line: n.Line, Seq: len(out)}))
	}
}

func run(tb testing.TB, stream, context string, change ...func(*stage.Context)) *world {
	tb.Helper()
	w := &world{in: objects(tb, stream)}
	w.Context = stage.New(resource.NewFacts(w.in, objects(tb, context), ""), stage.Options{Explain: &stage.Explain{}, Expand: stage.ExpandAll})
	for _, f := range change {
		f(w.Context)
	}
	w.out, w.err = sidecar.Run(w.Context, w.in)
	return w
}

// containers returns the names of the containers at path in an object.
func containers(r *resource.Resource, path string) []string {
	var names []string
	n, _ := tree.At(r.Node(), strings.TrimPrefix(path+".spec.containers", "."))
	for _, c := range tree.Items(n) {
		names = append(names, tree.StrAt(c, "name"))
	}
	return names
}

func (w *world) findings() []string {
	var out []string
	for _, f := range w.Findings.Findings() {
		if f.Severity != finding.Exact {
			out = append(out, f.ID)
		}
	}
	return slices.Compact(out)
}

func (w *world) reasons() []string {
	var out []string
	for _, e := range w.Explain.List() {
		out = append(out, e.SidecarSet+": "+e.Reason)
	}
	return out
}

const agent = `
apiVersion: apps.kruise.io/v1beta1
kind: SidecarSet
metadata: {name: agent}
spec:
  selector: {matchLabels: {app: web}}
  containers: [{name: agent, image: "agent:1"}]
---
`

func TestRun_InjectsIntoEveryPodTemplate(t *testing.T) {
	const pod = `{metadata: {labels: {app: web}}, spec: {containers: [{name: app}]}}`
	for kind, paths := range map[string][]string{
		"v1 PodTemplate":                           {"template"},
		"v1 ReplicationController":                 {"spec.template"},
		"apps/v1 Deployment":                       {"spec.template"},
		"apps/v1 StatefulSet":                      {"spec.template"},
		"apps/v1 DaemonSet":                        {"spec.template"},
		"apps/v1 ReplicaSet":                       {"spec.template"},
		"batch/v1 Job":                             {"spec.template"},
		"batch/v1 CronJob":                         {"spec.jobTemplate.spec.template"},
		"apps.kruise.io/v1alpha1 CloneSet":         {"spec.template"},
		"apps.kruise.io/v1beta1 StatefulSet":       {"spec.template"},
		"apps.kruise.io/v1alpha1 DaemonSet":        {"spec.template"},
		"apps.kruise.io/v1alpha1 BroadcastJob":     {"spec.template"},
		"apps.kruise.io/v1alpha1 AdvancedCronJob":  {"spec.template.jobTemplate.spec.template", "spec.template.broadcastJobTemplate.spec.template"},
		"apps.kruise.io/v1alpha1 UnitedDeployment": {"spec.template.statefulSetTemplate.spec.template", "spec.template.advancedStatefulSetTemplate.spec.template", "spec.template.cloneSetTemplate.spec.template", "spec.template.deploymentTemplate.spec.template"},
		"example.com/v1 Task":                      {"spec.task.pod"},
		"v1 Pod":                                   {""},
	} {
		for _, path := range paths {
			t.Run(kind+" "+path, func(t *testing.T) {
				version, name, _ := strings.Cut(kind, " ")
				body := pod
				for _, key := range slices.Backward(strings.Split(path, ".")) {
					if key != "" {
						body = "{" + key + ": " + body + "}"
					}
				}
				stream := agent + "{apiVersion: " + version + ", kind: " + name + ", " + body[1:]
				w := run(t, stream, "", func(c *stage.Context) { c.TemplatePaths = map[string]string{"example.com/Task": ".spec.task.pod"} })
				if w.err != nil {
					t.Fatal(w.err)
				}
				if len(w.out) != 1 {
					t.Fatalf("%d objects came out, want the workload alone", len(w.out))
				}
				if diff := cmp.Diff([]string{"agent", "app"}, containers(w.out[0], path)); diff != "" {
					t.Errorf("(-want +got):\n%s", diff)
				}
			})
		}
	}
}

// TestTemplatePaths_ReportsUnusedPath: a path of the user that leads nowhere is reported.
func TestTemplatePaths_ReportsUnusedPath(t *testing.T) {
	w := run(t, agent+"{apiVersion: example.com/v1, kind: Task, metadata: {name: t}, spec: {task: {}}}", "",
		func(c *stage.Context) { c.TemplatePaths = map[string]string{"example.com/Task": "spec.task.pod"} })
	if w.err != nil || !slices.Contains(w.findings(), "sidecarset/template-path") {
		t.Errorf("findings %v, error %v", w.findings(), w.err)
	}
}

// TestRun_LeavesOtherPodsAlone holds pods that the webhook never sees, and what has no pods.
func TestRun_LeavesOtherPodsAlone(t *testing.T) {
	for name, object := range map[string]string{
		"exists":           `{apiVersion: v1, kind: Pod, metadata: {name: p, uid: x, labels: {app: web}}, spec: {containers: [{name: app}]}}`,
		"being deleted":    `{apiVersion: v1, kind: Pod, metadata: {name: p, deletionTimestamp: "2026-01-01T00:00:00Z", labels: {app: web}}, spec: {containers: [{name: app}]}}`,
		"finished":         `{apiVersion: v1, kind: Pod, metadata: {name: p, labels: {app: web}}, spec: {containers: [{name: app}]}, status: {phase: Succeeded}}`,
		"other labels":     `{apiVersion: v1, kind: Pod, metadata: {name: p, labels: {app: db}}, spec: {containers: [{name: app}]}}`,
		"no pods":          `{apiVersion: v1, kind: Service, metadata: {name: p, labels: {app: web}}, spec: {containers: [{name: app}]}}`,
		"kind of another":  `{apiVersion: example.com/v1, kind: Deployment, spec: {template: {metadata: {labels: {app: web}}, spec: {containers: [{name: app}]}}}}`,
		"no template":      `{apiVersion: apps/v1, kind: Deployment, spec: {}}`,
		"webhook is apart": `{apiVersion: v1, kind: Pod, metadata: {name: p, namespace: cp, labels: {app: web}}, spec: {containers: [{name: app}]}}`,
		"so are its rules for pods": `{apiVersion: v1, kind: Pod, metadata: {name: p, namespace: cp, labels: {app: web}}, spec: {containers: [
			{name: app, env: [{name: KRUISE_CONTAINER_PRIORITY, value: high}]}, {name: b}]}}`,
	} {
		t.Run(name, func(t *testing.T) {
			w := run(t, agent+object, `{apiVersion: v1, kind: Namespace, metadata: {name: cp, labels: {control-plane: x}}}`)
			if w.err != nil {
				t.Fatal(w.err)
			}
			if w.out[0].Raw() == nil {
				t.Errorf("the object was taken for editing; explained as %v", w.reasons())
			}
		})
	}
}

func TestRun_KeepsSetsThatAreNotExpanded(t *testing.T) {
	w := run(t, agent+`{apiVersion: v1, kind: Pod, metadata: {labels: {app: web}}, spec: {containers: [{name: app}]}}`, "",
		func(c *stage.Context) { c.Expand = func(string) bool { return false } })
	if w.err != nil || len(w.out) != 2 || w.out[1].Changed() {
		t.Errorf("something happened: %v, %d objects", w.err, len(w.out))
	}
}

const deployment = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec:
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
      - name: app # the application
        image: app:1
`

func TestRun_SetsOfTheInputReplaceThoseOfTheContext(t *testing.T) {
	// The set of the input takes the place of the one that exists.
	stream := strings.Replace(agent, "agent:1", "agent:2", 1) + deployment
	extra := strings.ReplaceAll(agent, "agent", "extra")
	w := run(t, stream, agent+extra)
	if w.err != nil {
		t.Fatal(w.err)
	}
	list := tree.Get(w.out[0].Node(), "spec", "template", "spec", "containers")
	first, _ := tree.Find(list, "name", "agent")
	if tree.StrAt(first, "image") != "agent:2" {
		t.Errorf("agent runs %s, want the image of the input's set", tree.StrAt(first, "image"))
	}
	if diff := cmp.Diff([]string{"agent", "extra", "app"}, containers(w.out[0], "spec.template")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if _, gone := w.Lineage.Resolve(resource.ID{Group: "apps.kruise.io", Kind: "SidecarSet", Name: "agent"}); !gone {
		t.Error("nothing records that the set is gone")
	}
	comment := list.Content[2].Content[1].LineComment
	if comment != "# the application" {
		t.Errorf("the template's comment is %q", comment)
	}
}

// TestRun_IsIdempotent renders what was rendered: it is not touched.
func TestRun_IsIdempotent(t *testing.T) {
	hot := strings.Replace(agent, `image: "agent:1"`, `image: "agent:1", upgradeStrategy: {upgradeType: HotUpgrade, hotUpgradeEmptyImage: "empty:1"}`, 1)
	w := run(t, hot+deployment, "")
	if w.err != nil {
		t.Fatal(w.err)
	}
	text, err := yaml.Marshal(w.out[0].Node())
	if err != nil {
		t.Fatal(err)
	}
	again := run(t, hot+string(text), "")
	if again.err != nil {
		t.Fatal(again.err)
	}
	if again.out[0].Raw() == nil {
		second, _ := yaml.Marshal(again.out[0].Node())
		t.Errorf("changed the second time:\n%s", cmp.Diff(string(text), string(second)))
	}
}

func TestRun_SelectsNamespaces(t *testing.T) {
	set := strings.Replace(agent, "  containers", "  namespaceSelector: {matchLabels: {team: core}}\n  containers", 1)
	unknown := run(t, set+deployment, "")
	if unknown.err != nil || unknown.out[0].Changed() {
		t.Errorf("injected without knowing the namespace: %v", unknown.err)
	}
	if !slices.Contains(unknown.findings(), "sidecarset/namespace-unknown") {
		t.Errorf("findings %v", unknown.findings())
	}
	if want := "agent: its namespaceSelector team=core needs the labels of the namespace, which are not known"; !slices.Contains(unknown.reasons(), want) {
		t.Errorf("explained as %v", unknown.reasons())
	}
	known := run(t, set+deployment, `{apiVersion: v1, kind: Namespace, metadata: {name: shop, labels: {team: core}}}`)
	if known.err != nil || !known.out[0].Changed() {
		t.Errorf("not injected: %v %v", known.err, known.reasons())
	}
}

func TestRun_TakesPullSecretsOfTheServiceAccount(t *testing.T) {
	set := strings.Replace(agent, "  containers", "  imagePullSecrets: [{name: reg}]\n  containers", 1)
	account := func(name string) string {
		return `{apiVersion: v1, kind: ServiceAccount, metadata: {name: ` + name + `, namespace: shop}, imagePullSecrets: [{name: sa}]}`
	}
	named := strings.Replace(deployment, "    spec:\n      c", "    spec:\n      serviceAccountName: puller\n      c", 1)
	own := strings.Replace(deployment, "    spec:\n      c", "    spec:\n      imagePullSecrets: [{name: own}]\n      c", 1)
	for _, tt := range []struct {
		name, workload, context string
		want                    []string
		unknown                 bool
	}{
		{"default account", deployment, account("default"), []string{"sa", "reg"}, false},
		{"named account", named, account("puller"), []string{"sa", "reg"}, false},
		{"unknown account", named, account("default"), []string{"reg"}, true},
		{"own secrets", own, "", []string{"own", "reg"}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := run(t, set+tt.workload, tt.context)
			if w.err != nil {
				t.Fatal(w.err)
			}
			var got []string
			for _, s := range tree.Items(tree.Get(w.out[0].Node(), "spec", "template", "spec", "imagePullSecrets")) {
				got = append(got, tree.StrAt(s, "name"))
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if slices.Contains(w.findings(), "sidecarset/service-account") != tt.unknown {
				t.Errorf("findings %v", w.findings())
			}
		})
	}
}

func TestRun_AppliesLimitRanges(t *testing.T) {
	set := strings.Replace(agent, `image: "agent:1"`, `resourcesPolicy: {targetContainersMode: sum, resourcesExpr: {limits: {cpu: cpu}, requests: {cpu: cpu}}}`, 1)
	for _, tt := range []struct{ name, limits, want string }{
		{"default and defaultRequest", `{type: Container, default: {cpu: 250m}, defaultRequest: {cpu: 50m}}`, "250m 50m"},
		{"default serves as request", `{type: Container, default: {cpu: 250m}}`, "250m 250m"},
		{"max serves as default", `{type: Container, max: {cpu: "1"}}`, "1 1"},
		{"min serves as request", `{type: Container, min: {cpu: 10m}}`, " 10m"},
		{"of pods", `{type: Pod, max: {cpu: "1"}}`, " 0"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := run(t, set+deployment, `{apiVersion: v1, kind: LimitRange, metadata: {name: l, namespace: shop}, spec: {limits: [`+tt.limits+`]}}`)
			if w.err != nil {
				t.Fatal(w.err)
			}
			c, _ := tree.Find(tree.Get(w.out[0].Node(), "spec", "template", "spec", "containers"), "name", "agent")
			if got := tree.StrAt(c, "resources", "limits", "cpu") + " " + tree.StrAt(c, "resources", "requests", "cpu"); got != tt.want {
				t.Errorf("limit and request %q, want %q", got, tt.want)
			}
			if slices.Contains(w.findings(), "sidecarset/resources-policy") {
				t.Error("the LimitRange is known, but a finding says that it is not")
			}
		})
	}
}

// TestRun_ReportsRequestsAboveLimits: what the API server refuses is reported, with the workload, the
// container and the field of the policy; the trial of it changes nothing.
func TestRun_ReportsRequestsAboveLimits(t *testing.T) {
	const limits = `{apiVersion: v1, kind: LimitRange, metadata: {name: l, namespace: shop}, spec: {limits: [{type: Container, default: {cpu: "1"}}]}}`
	for _, tt := range []struct{ name, limit, request, want string }{
		{"above", "cpu*50%", "cpu", "spec.containers[0].resourcesPolicy.resourcesExpr.requests.cpu: container agent in pods of Deployment shop/web would request 1 of cpu with a limit of 500m: the API server refuses such pods"},
		{"the same", "cpu", "cpu", ""},
		{"no request", "cpu", "''", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			set := strings.Replace(agent, `image: "agent:1"`, `resourcesPolicy: {targetContainersMode: sum, resourcesExpr: {limits: {cpu: "`+tt.limit+`"}, requests: {cpu: `+tt.request+`}}}`, 1)
			in := objects(t, set+deployment)
			c := stage.New(resource.NewFacts(in, objects(t, limits), ""), stage.Options{Expand: stage.ExpandAll})
			var tried string
			for _, e := range sidecar.Excesses(c, in) {
				tried += e.Field + ": " + e.String()
			}
			if tried != tt.want || len(c.Findings.Findings()) > 0 || len(containers(in[1], "spec.template")) != 1 {
				t.Errorf("tried %q, want %q; findings %v, containers %v", tried, tt.want, c.Findings.Findings(), containers(in[1], "spec.template"))
			}
			w := run(t, set+deployment, limits)
			var got string
			for _, f := range w.Findings.Findings() {
				if f.ID == "sidecarset/requests-above-limits" {
					got += f.Field + ": " + f.Message
				}
			}
			if w.err != nil || got != tt.want {
				t.Errorf("got %q (%v), want %q", got, w.err, tt.want)
			}
		})
	}
}

func TestRun_ReportsFaults(t *testing.T) {
	for _, tt := range []struct{ name, stream, want string }{
		{"set that cannot be read", strings.Replace(agent, "{app: web}", "[web]", 1), "in.yaml:6: SidecarSet agent: spec.selector.matchLabels"},
		{"container without name", strings.Replace(agent, "name: agent, image", "image", 1), "spec.containers[0].name"},
		{"revision that is not there", strings.Replace(agent, "  containers", "  injectionStrategy: {revision: {revisionName: r}}\n  containers", 1) + deployment, "Deployment shop/web: spec.template: the revision r of SidecarSet agent is not known"},
		{"launch priority", agent + strings.Replace(deployment, "image: app:1", `env: [{name: KRUISE_CONTAINER_PRIORITY, value: high}]`, 1), "spec.template.spec.containers[1].env: KRUISE_CONTAINER_PRIORITY is \"high\""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := run(t, tt.stream, "")
			if w.err == nil || !strings.Contains(w.err.Error(), tt.want) {
				t.Errorf("error %v, want %q", w.err, tt.want)
			}
		})
	}
}
