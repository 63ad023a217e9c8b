package load

import (
	"fmt"
	"maps"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// deployments are two objects of one file, behind a comment.
const deployments = `# two of them
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
spec:
  replicas: 1
  template:
    spec:
      containers:
      - name: main
        image: main:1
      - name: side
        image: side:1
---
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web-canary
spec:
  replicas: 3
`

// TestPlaces_AreThoseOfFiles: objects and values of a kustomization have the places of the files that
// they are written in, by either builder.
func TestPlaces_AreThoseOfFiles(t *testing.T) {
	tests := map[string]struct {
		tree map[string]string
		// want are places of objects and fields, "FILE:LINE KIND/NAME FIELD".
		want []string
	}{
		"a base alone": {
			map[string]string{"o/kustomization.yaml": "resources: [web.yaml]\n", "o/web.yaml": deployments},
			[]string{
				"o/web.yaml:2 Deployment/web ", "o/web.yaml:7 Deployment/web spec.replicas", "o/web.yaml:14 Deployment/web spec.template.spec.containers[1].image",
				"o/web.yaml:16 Deployment/web-canary ", "o/web.yaml:21 Deployment/web-canary spec.replicas", "o/web.yaml:11 Deployment/web spec.template.spec.containers[0].ports",
			},
		},
		"a patch": {
			map[string]string{
				"o/kustomization.yaml": "resources: [web.yaml]\npatches: [{path: patch.yaml}]\n", "o/web.yaml": deployments,
				"o/patch.yaml": "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec:\n  replicas: 3\n  template:\n    spec:\n      containers:\n      - name: side\n        image: side:2\n",
			},
			[]string{
				"o/patch.yaml:5 Deployment/web spec.replicas", "o/patch.yaml:10 Deployment/web spec.template.spec.containers[0].image",
				"o/web.yaml:12 Deployment/web spec.template.spec.containers[1].image", "o/web.yaml:2 Deployment/web ",
				"o/web.yaml:21 Deployment/web-canary spec.replicas", "o/web.yaml:2 Deployment/web apiVersion", "o/web.yaml:5 Deployment/web metadata.name",
			},
		},
		"a patch in the kustomization, with a target": {
			map[string]string{
				"o/kustomization.yaml": "resources: [web.yaml]\npatches:\n- target: {kind: Deployment, name: web-.*}\n  patch: |-\n    - op: replace\n      path: /spec/replicas\n      value: 7\n    - op: add\n      path: /spec/paused\n      value: true\n",
				"o/web.yaml":           deployments,
			},
			[]string{"o/kustomization.yaml:7 Deployment/web-canary spec.replicas", "o/kustomization.yaml:10 Deployment/web-canary spec.paused", "o/web.yaml:7 Deployment/web spec.replicas"},
		},
		"a patch of an item": {
			map[string]string{
				"o/kustomization.yaml": "resources: [web.yaml]\npatches:\n- target: {kind: Deployment, name: web}\n  path: p.json\n", "o/web.yaml": deployments,
				"o/p.json": "[{\"op\": \"replace\", \"path\": \"/spec/template/spec/containers/1/image\", \"value\": \"side:9\"},\n {\"op\": \"add\", \"path\": \"/spec/template/spec/containers/-\",\n  \"value\": {\"name\": \"more\", \"image\": \"more:1\"}}]\n",
			},
			[]string{
				"o/p.json:1 Deployment/web spec.template.spec.containers[1].image", "o/p.json:3 Deployment/web spec.template.spec.containers[2].image",
				"o/web.yaml:11 Deployment/web spec.template.spec.containers[0].name",
			},
		},
		"names that change, and a base of a base": {
			map[string]string{
				"o/kustomization.yaml":  "resources: [../mid]\nnamePrefix: a-\npatches:\n- patch: |\n    apiVersion: apps/v1\n    kind: Deployment\n    metadata: {name: web-b}\n    spec: {replicas: 9}\n",
				"mid/kustomization.yml": "resources: [../base]\nnameSuffix: -b\nimages: [{name: main, newTag: '5'}]\n", "base/Kustomization": "resources: [web.yaml]\n",
				"base/web.yaml": deployments,
			},
			[]string{
				"base/web.yaml:2 Deployment/a-web-b ", "o/kustomization.yaml:8 Deployment/a-web-b spec.replicas", "base/web.yaml:21 Deployment/a-web-canary-b spec.replicas",
				"base/web.yaml:12 Deployment/a-web-b spec.template.spec.containers[0].image", "base/web.yaml:5 Deployment/a-web-b metadata.name",
			},
		},
		"the same name in two bases": {
			map[string]string{
				"o/kustomization.yaml":   "resources: [x, z]\n",
				"o/x/kustomization.yaml": "resources: [web.yaml]\nnamePrefix: x-\n", "o/x/web.yaml": "\n\n" + deployments,
				"o/z/kustomization.yaml": "resources: [web.yaml]\nnamePrefix: z-\n", "o/z/web.yaml": deployments,
			},
			[]string{"o/x/web.yaml:4 Deployment/x-web ", "o/z/web.yaml:2 Deployment/z-web ", "o/x/web.yaml:9 Deployment/x-web spec.replicas"},
		},
		"generated": {
			map[string]string{"o/kustomization.yaml": "namePrefix: a-\nconfigMapGenerator:\n- name: other\n  literals: [a=b]\n- name: config\n  literals: [a=b]\nsecretGenerator:\n- {name: config, literals: [c=d]}\n"},
			[]string{
				"o/kustomization.yaml:5 ConfigMap/a-config-4h2mbtbbt6 ", "o/kustomization.yaml:5 ConfigMap/a-config-4h2mbtbbt6 data.a",
				"o/kustomization.yaml:8 Secret/a-config-8gd2g5cgcb ", "o/kustomization.yaml:3 ConfigMap/a-other-4h2mbtbbt6 ",
			},
		},
		"a component": {
			map[string]string{
				"o/kustomization.yaml": "resources: [web.yaml]\ncomponents: [../c]\n", "o/web.yaml": deployments,
				"c/kustomization.yaml": "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\nresources: [pod.yaml]\npatches: [{path: p.yaml}]\nconfigMapGenerator: [{name: config}]\n",
				"c/pod.yaml":           "# a pod\napiVersion: v1\nkind: Pod\nmetadata:\n  name: one\n",
				"c/p.yaml":             "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web-canary}\nspec: {replicas: 4}\n",
			},
			[]string{"c/pod.yaml:2 Pod/one ", "c/p.yaml:4 Deployment/web-canary spec.replicas", "o/web.yaml:7 Deployment/web spec.replicas", "c/kustomization.yaml:5 ConfigMap/config-6ct58987ht "},
		},
		"a List": {
			map[string]string{"o/kustomization.yaml": "resources: [l.yaml]\n", "o/l.yaml": "apiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: Pod\n  metadata: {name: a}\n- apiVersion: v1\n  kind: Pod\n  metadata:\n    name: b\n"},
			[]string{"o/l.yaml:4 Pod/a ", "o/l.yaml:7 Pod/b ", "o/l.yaml:10 Pod/b metadata.name"},
		},
	}
	for name, tc := range tests {
		for builder, more := range map[string]string{"in process": "", "by kustomize": "transformers: []\n"} {
			t.Run(name+" "+builder, func(t *testing.T) {
				tree := map[string]string{}
				maps.Copy(tree, tc.tree)
				tree["o/kustomization.yaml"] += more
				root := Files(t, tree)
				list, err := Load(t.Context(), Options{Kustomize: filepath.Join(root, "o"), Root: root})
				if err != nil {
					t.Fatal(err)
				}
				var got []string
				for _, want := range tc.want {
					_, rest, _ := strings.Cut(want, " ")
					object, field, _ := strings.Cut(rest, " ")
					got = append(got, placeIn(list, root, object, field)+" "+rest)
				}
				if diff := cmp.Diff(tc.want, got); diff != "" {
					t.Error(diff)
				}
			})
		}
	}
}

func placeIn(list []*resource.Resource, root, object, field string) string {
	var names []string
	for _, r := range list {
		if r.Kind()+"/"+r.Name() != object {
			names = append(names, r.Kind()+"/"+r.Name())
			continue
		}
		at := 0
		if field != "" {
			at = tree.LineOf(r.Node(), field)
		}
		file, line := r.Origin.At(at)
		rel, err := filepath.Rel(root, file)
		if err != nil {
			return err.Error()
		}
		return fmt.Sprintf("%s:%d", filepath.ToSlash(rel), line)
	}
	return fmt.Sprintf("no such object in %q", names)
}
