package fn

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/load"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// built is what kustomize made, by kind and name.
type built struct {
	t       *testing.T
	text    string
	objects []*resource.Resource
}

// kustomized builds the folder dir of an archive of files, and checks what
// must hold of every build: no trace of the build itself, no duplicates.
func kustomized(t *testing.T, archive, dir string) *built {
	t.Helper()
	top := t.TempDir()
	unpack(t, top, archive)
	out, stderr, err := build(t, filepath.Join(top, dir), installed(t))
	if err != nil {
		t.Fatalf("%v\n%s", err, stderr)
	}
	b := &built{t: t, text: out}
	for _, residue := range []string{"internal.config.kubernetes.io", "config.k8s.io/id", "kustomize.config.k8s.io/", "config.kubernetes.io/"} {
		if strings.Contains(out, residue) {
			t.Errorf("%s is left in the result", residue)
		}
	}
	if b.objects, err = load.Parse("build", []byte(out)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("kustomize said:\n%s\nand built:\n%s", stderr, out)
		}
	})
	return b
}

// one returns the object of kind and name; a * at the end of the name is
// for a hash.
func (b *built) one(kind, name string) *tree.Node {
	b.t.Helper()
	var found *tree.Node
	for _, r := range b.objects {
		begin, hashed := strings.CutSuffix(name, "*")
		if r.Kind() == kind && (r.Name() == name || hashed && strings.HasPrefix(r.Name(), begin) && len(r.Name()) == len(begin)+10) {
			found = r.Node()
		}
	}
	if found == nil {
		b.t.Fatalf("there is no %s %s", kind, name)
	}
	return found
}

func (b *built) none(kind string) {
	b.t.Helper()
	for _, r := range b.objects {
		if r.Kind() == kind {
			b.t.Errorf("%s %s is left", kind, r.Name())
		}
	}
}

// is checks the text at path.
func (b *built) is(n *tree.Node, path, want string) {
	b.t.Helper()
	at, _ := tree.At(n, path)
	if got := tree.Str(at); got != want {
		b.t.Errorf("%s %s: %s is %q, want %q", tree.StrAt(n, "kind"), tree.StrAt(n, "metadata", "name"), path, got, want)
	}
}

const declared = `
  annotations:
    config.kubernetes.io/function: |
      exec: {path: kubectl-kruise}
`

const pipeline = `apiVersion: kubectl-kruise.dev/v1alpha1
kind: RenderConfig
metadata:
  name: kruise` + declared

// web is a CloneSet with everything that refers to it and that it refers to.
const web = `apiVersion: apps.kruise.io/v1beta1
kind: CloneSet
metadata:
  name: web
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      serviceAccountName: runner
      containers:
      - name: main
        image: nginx:1
        envFrom: [{configMapRef: {name: settings}}]
        env: [{name: KEY, valueFrom: {secretKeyRef: {name: key, key: k}}}]
      volumes: [{name: v, configMap: {name: settings}}]
---
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata:
  name: web
spec:
  maxReplicas: 3
  scaleTargetRef: {apiVersion: apps.kruise.io/v1beta1, kind: CloneSet, name: web}
---
apiVersion: v1
kind: Service
metadata:
  name: web
spec:
  selector: {app: web}
---
apiVersion: v1
kind: ServiceAccount
metadata:
  name: runner
---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata:
  name: web
spec:
  defaultBackend: {service: {name: web, port: {number: 80}}}
`

const generators = `
configMapGenerator:
- name: settings
  literals: [a=b]
secretGenerator:
- name: key
  literals: [k=v]
`

// TestKustomize_LowersInABase: the function runs in the base; the overlay's prefix,
// namespace, component, images and patches meet the Deployment.
func TestKustomize_LowersInABase(t *testing.T) {
	b := kustomized(t, "-- base/web.yaml --\n"+web+"-- base/fn.yaml --\n"+pipeline+`-- base/kustomization.yaml --
resources: [web.yaml]
transformers: [fn.yaml]
namePrefix: base-
`+generators+`-- comp/kustomization.yaml --
apiVersion: kustomize.config.k8s.io/v1alpha1
kind: Component
patches:
- target: {kind: Deployment}
  patch: '[{"op": "add", "path": "/metadata/labels/component", "value": "seen"}]'
-- over/kustomization.yaml --
resources: [../base]
components: [../comp]
namePrefix: prod-
nameSuffix: -x
namespace: shop
images: [{name: nginx, newTag: "2"}]
patches:
- patch: '{"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"}, "spec": {"replicas": 7}}'
`, "over")
	checkWeb(t, b, "prod-base-", "-x")
	d := b.one("Deployment", "prod-base-web-x")
	b.is(d, "metadata.labels.component", "seen")
	b.is(d, "metadata.namespace", "shop")
	b.is(d, "spec.replicas", "7")
	b.is(d, "spec.template.spec.containers[0].image", "nginx:2")
}

// checkWeb checks that web is a Deployment and that all references hold.
func checkWeb(t *testing.T, b *built, prefix, suffix string) {
	t.Helper()
	b.none("CloneSet")
	name := prefix + "web" + suffix
	d := b.one("Deployment", name)
	settings := tree.StrAt(b.one("ConfigMap", prefix+"settings"+suffix+"-*"), "metadata", "name")
	b.is(d, "spec.template.spec.containers[0].envFrom[0].configMapRef.name", settings)
	b.is(d, "spec.template.spec.volumes[0].configMap.name", settings)
	b.is(d, "spec.template.spec.containers[0].env[0].valueFrom.secretKeyRef.name", tree.StrAt(b.one("Secret", prefix+"key"+suffix+"-*"), "metadata", "name"))
	b.is(d, "spec.template.spec.serviceAccountName", prefix+"runner"+suffix)
	hpa := b.one("HorizontalPodAutoscaler", name)
	b.is(hpa, "spec.scaleTargetRef.name", name)
	b.is(hpa, "spec.scaleTargetRef.kind", "Deployment")
	b.is(hpa, "spec.scaleTargetRef.apiVersion", "apps/v1")
	b.is(b.one("Ingress", name), "spec.defaultBackend.service.name", name)
}

// TestKustomize_LowersInAnOverlay: the function runs outermost, on names that two layers
// have changed and references that none has.
func TestKustomize_LowersInAnOverlay(t *testing.T) {
	b := kustomized(t, "-- base/web.yaml --\n"+web+"-- over/fn.yaml --\n"+pipeline+`-- base/kustomization.yaml --
resources: [web.yaml]
namePrefix: base-
`+generators+`-- over/kustomization.yaml --
resources: [../base]
transformers: [fn.yaml]
namePrefix: prod-
namespace: shop
`, "over")
	checkWeb(t, b, "prod-base-", "")
}

// TestKustomize_LowersInAComponent: components run their transformers on what the
// including layer has.
func TestKustomize_LowersInAComponent(t *testing.T) {
	b := kustomized(t, "-- base/web.yaml --\n"+web+"-- comp/fn.yaml --\n"+pipeline+`-- comp/kustomization.yaml --
apiVersion: kustomize.config.k8s.io/v1alpha1
kind: Component
transformers: [fn.yaml]
-- base/kustomization.yaml --
resources: [web.yaml]
components: [../comp]
namePrefix: base-
`+generators+`-- over/kustomization.yaml --
resources: [../base]
nameSuffix: -y
`, "over")
	checkWeb(t, b, "base-", "-y")
}

// TestKustomize_OverlayMayNameTheOriginal: an object of the overlay that names the Deployment
// as the base's author would.
func TestKustomize_OverlayMayNameTheOriginal(t *testing.T) {
	hpa := `apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: more}
spec: {maxReplicas: 3, scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}}
`
	b := kustomized(t, "-- base/web.yaml --\n"+web+"-- base/fn.yaml --\n"+pipeline+`-- base/kustomization.yaml --
resources: [web.yaml]
transformers: [fn.yaml]
namePrefix: base-
-- over/hpa.yaml --
`+hpa+`-- over/kustomization.yaml --
resources: [../base, hpa.yaml]
namePrefix: prod-
`, "over")
	b.is(b.one("HorizontalPodAutoscaler", "prod-more"), "spec.scaleTargetRef.name", "prod-base-web")
}

// TestKustomize_LowersClaimsInABase: a CloneSet with claims becomes two objects, one of which
// the other names.
func TestKustomize_LowersClaimsInABase(t *testing.T) {
	b := kustomized(t, `-- base/db.yaml --
apiVersion: apps.kruise.io/v1beta1
kind: CloneSet
metadata:
  name: db
spec:
  selector: {matchLabels: {app: db}}
  template:
    metadata: {labels: {app: db}}
    spec:
      containers: [{name: main, image: db, volumeMounts: [{name: data, mountPath: /data}]}]
  volumeClaimTemplates:
  - metadata: {name: data}
    spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}
-- base/fn.yaml --
`+pipeline+`-- base/kustomization.yaml --
resources: [db.yaml]
transformers: [fn.yaml]
namePrefix: base-
-- over/kustomization.yaml --
resources: [../base]
namePrefix: prod-
`, "over")
	b.none("CloneSet")
	b.is(b.one("StatefulSet", "prod-base-db"), "spec.serviceName", "prod-base-db")
	b.is(b.one("Service", "prod-base-db"), "spec.clusterIP", "None")
}

const zones = `apiVersion: apps.kruise.io/v1alpha1
kind: UnitedDeployment
metadata:
  name: web
  annotations:
    config.kubernetes.io/function: |
      exec: {path: kubectl-kruise}
spec:
  replicas: 4
  selector: {matchLabels: {app: web}}
  template:
    deploymentTemplate:
      metadata: {labels: {app: web}}
      spec:
        selector: {matchLabels: {app: web}}
        template:
          metadata: {labels: {app: web}}
          spec:
            containers:
            - name: main
              image: nginx:1
              envFrom: [{configMapRef: {name: settings}}]
  topology:
    subsets:
    - {name: a, replicas: 1}
    - {name: b}
`

func TestKustomize_UnitedDeploymentAsGenerator(t *testing.T) {
	b := kustomized(t, "-- base/ud.yaml --\n"+zones+`-- base/kustomization.yaml --
generators: [ud.yaml]
namePrefix: base-
`+generators+`-- over/kustomization.yaml --
resources: [../base]
namePrefix: prod-
namespace: shop
`, "over")
	b.none("UnitedDeployment")
	settings := tree.StrAt(b.one("ConfigMap", "prod-base-settings-*"), "metadata", "name")
	for name, replicas := range map[string]string{"prod-base-web-a": "1", "prod-base-web-b": "3"} {
		d := b.one("Deployment", name)
		b.is(d, "spec.replicas", replicas)
		b.is(d, "metadata.namespace", "shop")
		b.is(d, "spec.template.spec.containers[0].envFrom[0].configMapRef.name", settings)
	}
}

// TestKustomize_UnitedDeploymentAsResource: split in the middle of the layers. Pieces
// keep the history of names, or an outer layer finds two objects for one name.
func TestKustomize_UnitedDeploymentAsResource(t *testing.T) {
	b := kustomized(t, "-- base/ud.yaml --\n"+zones+`---
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: web-a}
spec: {maxReplicas: 3, scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web-a}}
-- base/fn.yaml --
`+pipeline+`-- base/kustomization.yaml --
resources: [ud.yaml]
transformers: [fn.yaml]
namePrefix: base-
`+generators+`-- over/kustomization.yaml --
resources: [../base]
namePrefix: prod-
`, "over")
	b.none("UnitedDeployment")
	b.one("Deployment", "prod-base-web-a")
	b.one("Deployment", "prod-base-web-b")
	b.is(b.one("HorizontalPodAutoscaler", "prod-base-web-a"), "spec.scaleTargetRef.name", "prod-base-web-a")
}

const agent = `apiVersion: apps.kruise.io/v1beta1
kind: SidecarSet
metadata:
  name: agent` + declared + `spec:
  selector: {matchLabels: {app: web}}
  containers:
  - name: agent
    image: agent:1
    envFrom: [{configMapRef: {name: settings}}]
`

// TestKustomize_SidecarSetInjectsItself: as a function config it injects itself, leaves
// workloads what they are and other SidecarSets alone.
func TestKustomize_SidecarSetInjectsItself(t *testing.T) {
	b := kustomized(t, "-- base/web.yaml --\n"+web+`---
apiVersion: apps/v1
kind: Deployment
metadata: {name: plain}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: main, image: nginx}]}
---
apiVersion: apps.kruise.io/v1beta1
kind: SidecarSet
metadata: {name: other}
spec:
  selector: {matchLabels: {app: web}}
  containers: [{name: other, image: other}]
-- base/agent.yaml --
`+agent+`-- base/kustomization.yaml --
resources: [web.yaml]
transformers: [agent.yaml]
namePrefix: base-
`+generators+`-- over/kustomization.yaml --
resources: [../base]
namePrefix: prod-
images: [{name: agent, newTag: "2"}]
`, "over")
	if containers := b.one("CloneSet", "prod-base-web"); !strings.Contains(b.text, "agent") || tree.Get(containers, "spec") == nil {
		t.Error("the CloneSet has no sidecar")
	}
	b.one("SidecarSet", "prod-base-other")
	d := b.one("Deployment", "prod-base-plain")
	c, _ := tree.Find(tree.Get(d, "spec", "template", "spec", "containers"), "name", "agent")
	if c == nil {
		t.Fatal("the Deployment has no sidecar")
	}
	b.is(c, "image", "agent:2")
	b.is(c, "envFrom[0].configMapRef.name", tree.StrAt(b.one("ConfigMap", "prod-base-settings-*"), "metadata", "name"))
	if strings.Contains(b.text, "image: other\n          name") {
		t.Error("the other SidecarSet was injected, too")
	}
}

func TestKustomize_ResourceDistributionIsCopied(t *testing.T) {
	b := kustomized(t, `-- namespaces.yaml --
apiVersion: v1
kind: Namespace
metadata: {name: a, labels: {team: x}}
---
apiVersion: v1
kind: Namespace
metadata: {name: b, labels: {team: y}}
---
apiVersion: v1
kind: Namespace
metadata: {name: c}
-- rd.yaml --
apiVersion: apps.kruise.io/v1beta1
kind: ResourceDistribution
metadata:
  name: rd`+declared+`spec:
  resource:
    apiVersion: v1
    kind: ConfigMap
    metadata: {name: ca}
    data: {k: v}
  targets:
    namespaceSelector:
      matchExpressions: [{key: team, operator: Exists}]
-- kustomization.yaml --
resources: [namespaces.yaml]
transformers: [rd.yaml]
`, ".")
	var in []string
	for _, r := range b.objects {
		if r.Kind() == "ConfigMap" {
			in = append(in, r.Namespace()+"/"+r.Name())
		}
	}
	if strings.Join(in, " ") != "a/ca b/ca" {
		t.Errorf("copies: %v", in)
	}
	b.none("ResourceDistribution")
}

// TestKustomize_FaultsFailTheBuild: faults are on stderr, and nothing is built.
func TestKustomize_FaultsFailTheBuild(t *testing.T) {
	tests := map[string]struct{ files, says string }{
		"bad option": {"-- fn.yaml --\n" + pipeline + "spec: {target: helm}\n-- kustomization.yaml --\ntransformers: [fn.yaml]\n", "spec.target: unknown value"},
		"strict": {
			"-- web.yaml --\n" + strings.Replace(web, "  replicas: 2\n", "  replicas: 2\n  updateStrategy: {rollingUpdate: {partition: 1}}\n", 1) + "-- fn.yaml --\n" + pipeline + "spec: {strict: true}\n-- kustomization.yaml --\nresources: [web.yaml]\ntransformers: [fn.yaml]\n",
			"something is lost",
		},
		"nothing left": {"-- agent.yaml --\n" + strings.Replace(agent, declared, "\n", 1) + "-- fn.yaml --\n" + pipeline + "-- kustomization.yaml --\nresources: [agent.yaml]\ntransformers: [fn.yaml]\n", "the result has no objects"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			unpack(t, dir, tc.files)
			out, stderr, err := build(t, dir, installed(t))
			if err == nil || out != "" || !strings.Contains(stderr, tc.says) {
				t.Errorf("got %v, stdout %q, stderr %q", err, out, stderr)
			}
		})
	}
}
