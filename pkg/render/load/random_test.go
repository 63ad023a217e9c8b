package load

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/kustomize/kyaml/filesys"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/distort"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/load/linear"
)

// TestKustomize_BuildsRandomAsTheCommand: trees of random layers are built to the same bytes with and
// without kustomize; what kustomize refuses is not built.
func TestKustomize_BuildsRandomAsTheCommand(t *testing.T) {
	built, refused := 0, 0
	withKruise(t, func(config []byte) {
		for seed := range uint64(60) {
			switch agree(t, seed, config) {
			case "built":
				built++
			case "refused":
				refused++
			}
		}
	})
	if built < 20 || refused < 3 {
		t.Errorf("%d were built, %d refused by both: the trees are too dull", built, refused)
	}
}

func FuzzKustomization(f *testing.F) {
	withKruise(f, func(config []byte) {
		distort.Seeds(f, func(t *testing.T, seed uint64) {
			t.Helper()
			agree(t, seed, config)
		})
	})
}

func agree(t *testing.T, seed uint64, config []byte) string {
	t.Helper()
	r := &random{rand.New(rand.NewPCG(seed, 1)), map[string]string{}, map[string]bool{}}
	disk := filesys.MakeFsInMemory()
	for name, text := range r.tree() {
		if err := disk.WriteFile(filepath.Join("/all", name), []byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	want, err := runKustomize(configFiles{disk, config}, "/all/top")
	got, unfit := linear.Build(disk, "/all/top", config)
	switch {
	case unfit != nil && err != nil:
		return "refused"
	case unfit != nil:
		t.Errorf("seed %d: left to kustomize, which builds it: %v", seed, unfit)
	case err != nil:
		t.Errorf("seed %d: built, where kustomize says: %v", seed, err)
	default:
		if diff := cmp.Diff(string(want), string(got.Text)); diff != "" {
			t.Errorf("seed %d: %s", seed, diff)
		}
	}
	return "built"
}

// random writes trees of kustomizations.
type random struct {
	*rand.Rand
	files map[string]string
	// made are the kinds and names of objects: most may be there once only.
	made map[string]bool
}

func (r *random) tree() map[string]string {
	r.layer("base1", nil, false)
	r.layer("base2", nil, false)
	r.layer("comp", nil, true)
	r.layer("mid", []string{"../base1"}, false)
	below := []string{"../mid"}
	if r.one(2) {
		below = append(below, "../base2")
	}
	r.layer("top", below, false)
	return r.files
}

func (r *random) one(in int) bool { return r.IntN(in) == 0 }

func (r *random) pick(from ...string) string { return from[r.IntN(len(from))] }

func (r *random) name() string { return r.pick("web", "api", "db", "cfg", "p-web") }

func (r *random) layer(dir string, below []string, component bool) {
	var k strings.Builder
	if component {
		k.WriteString("apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\n")
	}
	resources := below
	if len(below) == 0 || r.one(3) {
		r.files[dir+"/all.yaml"] = r.objects()
		resources = append([]string{"all.yaml"}, below...)
	}
	fmt.Fprintf(&k, "resources: [%s]\n", strings.Join(resources, ", "))
	if dir == "mid" && r.one(2) {
		k.WriteString("components: [../comp]\n")
	}
	for _, f := range []struct {
		in   int
		text func() string
	}{
		{3, func() string { return "namePrefix: " + r.pick("p-", "q-") + "\n" }},
		{4, func() string { return "nameSuffix: " + r.pick("-s", "-t") + "\n" }},
		{6, func() string { return "namespace: " + r.pick("one", "two", "default") + "\n" }},
		{4, func() string { return "commonLabels: {team: " + r.pick("a", "b") + "}\n" }},
		{4, func() string {
			return fmt.Sprintf("labels: [{pairs: {l: m}, includeSelectors: %v, includeTemplates: %v}]\n", r.one(2), r.one(2))
		}},
		{4, func() string { return "commonAnnotations: {note: " + r.pick("a", "b") + "}\n" }},
		{3, func() string { return "images: [{name: nginx, newTag: \"" + r.pick("2", "3") + "\"}]\n" }},
		{20, func() string { return fmt.Sprintf("replicas: [{name: %s, count: %d}]\n", r.name(), r.IntN(9)) }},
		{5, r.patches},
		{3, r.generators},
		{4, func() string { return "sortOptions: {order: " + r.pick("fifo", "legacy") + "}\n" }},
	} {
		if r.one(f.in) {
			k.WriteString(f.text())
		}
	}
	r.files[dir+"/kustomization.yaml"] = k.String()
}

func (r *random) patches() string {
	if r.one(8) { // which need somebody of that name
		return r.pick(
			"patches:\n- patch: '{\"apiVersion\": \"apps/v1\", \"kind\": \"Deployment\", \"metadata\": {\"name\": \""+r.name()+"\"}, \"spec\": {\"replicas\": 7}}'\n",
			"patchesStrategicMerge:\n- '{\"apiVersion\": \"v1\", \"kind\": \"ConfigMap\", \"metadata\": {\"name\": \""+r.name()+"\"}, \"data\": {\"q\": \"r\"}}'\n",
		)
	}
	return r.pick(
		"patches:\n- target: {kind: CloneSet, name: \".*"+r.name()+".*\"}\n"+
			"  patch: '{\"apiVersion\": \"v1\", \"kind\": \"X\", \"metadata\": {\"name\": \"x\"}, \"spec\": {\"template\": {\"spec\": {\"containers\": [{\"name\": \""+r.pick("c", "d")+"\", \"tty\": true}]}}}}'\n",
		"patches:\n- target: {kind: "+r.pick("Deployment", "StatefulSet", "CloneSet", "ConfigMap")+", name: \".*"+r.name()+".*\"}\n"+
			"  patch: '[{\"op\": \"add\", \"path\": \"/metadata/annotations\", \"value\": {\"x\": \""+r.name()+"\"}}]'\n",
		"patches:\n- target: {kind: "+r.pick("Service", "ConfigMap")+", name: "+r.name()+"}\n  patch: '{\"apiVersion\": \"v1\", \"kind\": \"X\", \"metadata\": {\"name\": \"x\"}, \"$patch\": \"delete\"}'\n",
	)
}

func (r *random) generators() string {
	behavior, name := "create", r.name()+"-made"
	if r.one(4) {
		behavior, name = r.pick("merge", "replace"), r.name()
	}
	return fmt.Sprintf("%s: [{name: %s, behavior: %s, literals: [k=%s]}]\n", r.pick("configMapGenerator", "secretGenerator"), name, behavior, r.name())
}

// objects refer to each other by the few names that there are.
func (r *random) objects() string {
	var all []string
	for range 3 + r.IntN(8) {
		name, namespace := r.name(), ""
		if r.one(3) {
			namespace = ", namespace: " + r.pick("one", "two", "default")
		}
		object := r.object("metadata: {name: " + name + namespace + "}\n")
		head, _, _ := strings.Cut(object, ", namespace")
		head, _, _ = strings.Cut(head, "}")
		if !r.made[head] || r.one(50) {
			r.made[head] = true
			all = append(all, object)
		}
	}
	return strings.Join(all, "---\n")
}

func (r *random) object(meta string) string {
	pod := fmt.Sprintf("{metadata: {labels: {app: a}}, spec: {serviceAccountName: %s, containers: [{name: c, image: nginx:1, envFrom: [{configMapRef: {name: %s}}, {secretRef: {name: %s}}]}]}}",
		r.name(), r.name(), r.name())
	workload := "spec: {replicas: 1, selector: {matchLabels: {app: a}}, template: " + pod + "}\n"
	return r.pick(
		"apiVersion: apps/v1\nkind: Deployment\n"+meta+workload,
		"apiVersion: apps/v1\nkind: StatefulSet\n"+meta+"spec: {serviceName: "+r.name()+", template: "+pod+"}\n",
		"apiVersion: apps.kruise.io/v1alpha1\nkind: CloneSet\n"+meta+workload,
		"apiVersion: apps.kruise.io/v1beta1\nkind: StatefulSet\n"+meta+workload,
		"apiVersion: v1\nkind: ConfigMap\n"+meta+"data: {a: b}\n",
		"apiVersion: v1\nkind: Secret\n"+meta,
		"apiVersion: v1\nkind: Service\n"+meta+"spec: {selector: {app: a}}\n",
		"apiVersion: v1\nkind: ServiceAccount\n"+meta+"secrets: [{name: "+r.name()+"}]\n",
		"apiVersion: v1\nkind: Namespace\nmetadata: {name: "+r.pick("one", "two")+"}\n",
		"apiVersion: autoscaling/v2\nkind: HorizontalPodAutoscaler\n"+meta+"spec: {scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: "+r.name()+"}}\n",
		"apiVersion: rbac.authorization.k8s.io/v1\nkind: RoleBinding\n"+meta+"roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: "+r.name()+"}\nsubjects: [{kind: ServiceAccount, name: "+r.name()+", namespace: "+r.pick("one", "two")+"}, {kind: ServiceAccount, name: default}]\n",
		"apiVersion: rbac.authorization.k8s.io/v1\nkind: Role\n"+meta+"rules: [{resources: [configmaps], resourceNames: ["+r.name()+"], verbs: [get]}]\n",
	)
}
