package doctor

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/kustomize"
)

const web = `apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: main, image: "nginx:1.29", envFrom: [{configMapRef: {name: settings}}]}]}
`

const settings = "configMapGenerator: [{name: settings, literals: [colour=blue]}]\n"

// run is the config of a function that runs exec, with more below it.
func run(kind, exec, more string) string {
	return "apiVersion: kubectl-kruise.dev/v1alpha1\nkind: " + kind + "\nmetadata:\n  name: it\n  annotations:\n    config.kubernetes.io/function: |\n      exec: " + exec + "\n" + more
}

const copies = `apiVersion: apps.kruise.io/v1beta1
kind: ResourceDistribution
metadata:
  name: ca
  annotations:
    config.kubernetes.io/function: |
      exec: {path: kubectl-kruise}
spec:
  resource: {apiVersion: v1, kind: ConfigMap, metadata: {name: ca}, data: {a: b}}
  targets: {includedNamespaces: {list: [{name: team-a}, {name: team-b}]}}
`

var ours = run("RenderConfig", "{path: kubectl-kruise}", "spec: {target: native}\n")

// base is a kustomization in which a function runs.
func base(more, config string) map[string]string {
	return map[string]string{"kustomization.yaml": "resources: [web.yaml]\n" + settings + more, "web.yaml": web, "config.yaml": config}
}

// traps are kustomizations, what the real kustomize does with them, and what doctor prints.
var traps = map[string]struct {
	files map[string]string
	flags trapFlags
	// fails is what kustomize says when it fails; builds is what it builds when it
	// does not, lacks what it does not build.
	fails, builds, lacks string
	status               verdictStatus
	says                 string
}{
	"both flags": {
		base("transformers: [config.yaml]\n", ours), trapFlags{true, true}, "", "kind: Deployment", "", okVerdict, "1 function, and no trap",
	},
	"left out without a word": {
		base("transformers: [config.yaml]\n", run("RenderConfig", "{path: 'false'}", "")), trapFlags{true, false}, "", "kind: Deployment", "", fail, "leaves the function out",
	},
	"no flags": {
		base("transformers: [config.yaml]\n", ours), trapFlags{}, "external plugins disabled", "", "", fail, "external plugins are disabled",
	},
	"only the second flag": {
		base("transformers: [config.yaml]\n", ours), trapFlags{false, true}, "external plugins disabled", "", "", fail, "external plugins are disabled",
	},
	"in place": {
		map[string]string{"kustomization.yaml": "resources: [web.yaml]\n" + settings + "transformers:\n- |\n  " + strings.ReplaceAll(strings.TrimSpace(run("RenderConfig", "{path: no-such-name}", "")), "\n", "\n  ") + "\n", "web.yaml": web},
		trapFlags{true, true},
		"no-such-name", "", "", fail, "there is no no-such-name",
	},
	"under resources": {
		base("", ours), trapFlags{true, true}, "", "kind: Deployment", "", okVerdict, "0 functions",
	},
	"an object like any other": {
		map[string]string{"kustomization.yaml": "resources: [config.yaml]\n", "config.yaml": ours}, trapFlags{true, true}, "", "kind: RenderConfig", "", warnVerdict, "no function runs",
	},
	"returns nothing": {
		base("transformers: [config.yaml]\n", run("RenderConfig", "{path: kubectl-kruise}", "spec: {validate: empty}\n")), trapFlags{true, true}, "", "", "kind", fail, "deletes every object",
	},
	"a validator that echoes": {
		base("validators: [config.yaml]\n", ours), trapFlags{true, true}, "shouldn't modify", "", "", fail, "fails every validator",
	},
	"a validator": {
		base("validators: [config.yaml]\n", run("RenderConfig", "{path: kubectl-kruise}", "spec: {validate: empty}\n")), trapFlags{true, true}, "", "kind: Deployment", "", okVerdict, "no trap",
	},
	"an unknown key": {
		base("transformers: [config.yaml]\n", run("RenderConfig", "{path: kubectl-kruise, arg: [fn]}", "")), trapFlags{true, true}, "unknown field", "", "", fail, "unknown field",
	},
	"args": {
		base("transformers: [config.yaml]\n", run("RenderConfig", "{path: kubectl-kruise, args: [fn]}", "")), trapFlags{true, true}, "", "kind: Deployment", "", warnVerdict, "before 5.7",
	},
	"a path from the config's folder": {
		map[string]string{
			"kustomization.yaml": "resources: [web.yaml]\n" + settings + "transformers: [deep/config.yaml]\n", "web.yaml": web,
			"deep/config.yaml": run("Any", "{path: ./it}", ""), "deep/it": "#!/bin/sh\ncat\n",
		}, trapFlags{true, true}, "it", "", "", fail, "is not a program",
	},
	"a path from the kustomization": {
		map[string]string{
			"kustomization.yaml": "resources: [web.yaml]\n" + settings + "transformers: [deep/config.yaml]\n", "web.yaml": web,
			"deep/config.yaml": run("Any", "{path: ./deep/it}", ""), "deep/it": "#!/bin/sh\ncat\n",
		}, trapFlags{true, true}, "", "kind: Deployment", "", okVerdict, "no trap",
	},
	"a folder of configs": {
		map[string]string{
			"kustomization.yaml": "resources: [web.yaml]\n" + settings + "transformers: [deep]\n", "web.yaml": web,
			"deep/kustomization.yaml": "resources: [config.yaml]\n", "deep/config.yaml": run("Any", "{path: no-such-name}", ""),
		}, trapFlags{true, true}, "no-such-name", "", "", fail, "there is no no-such-name",
	},
	"copies as a generator": {
		base("generators: [config.yaml]\n", copies), trapFlags{true, true}, "", "namespace: team-b", "", warnVerdict, "does not know which Namespaces there are",
	},
	"copies as a generator, and a namespace": {
		base("namespace: shop\ngenerators: [config.yaml]\n", copies), trapFlags{true, true}, "namespace transformation produces ID conflict", "", "", fail, "moves all copies into one",
	},
	"copies below a namespace": {
		map[string]string{
			"kustomization.yaml": "namespace: shop\nresources: [base]\n", "base/kustomization.yaml": "resources: [web.yaml]\n" + settings + "transformers: [config.yaml]\n",
			"base/web.yaml": web, "base/config.yaml": copies,
		}, trapFlags{true, true}, "namespace transformation produces ID conflict", "", "", fail, "moves all copies into one",
	},
	"a config that is not there": {
		base("transformers: [confg.yaml]\n", ours), trapFlags{true, true}, "confg.yaml", "", "", fail, "there is no confg.yaml",
	},
	"a folder that is not there": {
		base("components: [deep]\n", ours), trapFlags{true, true}, "deep", "", "", fail, "there is no deep",
	},
	"an object that is not there": {
		map[string]string{"kustomization.yaml": "resources: [web.yaml, hpa.yaml]\n", "web.yaml": web}, trapFlags{true, true}, "hpa.yaml", "", "", fail, "there is no hpa.yaml",
	},
	"copies where they belong": {
		base("namespace: shop\ntransformers: [config.yaml]\n", copies), trapFlags{true, true}, "", "namespace: team-b", "", okVerdict, "no trap",
	},
}

// TestKustomize_FindsSkippedFunctions compares with the real kustomize.
func TestKustomize_FindsSkippedFunctions(t *testing.T) {
	programs(t)
	for name, c := range traps {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			for file, text := range c.files {
				write(t, filepath.Join(dir, filepath.FromSlash(file)), text)
			}
			out, said, err := kustomize.Run(t, dir, nil, append(c.flags.args(), ".")...)
			switch {
			case c.fails != "" && (err == nil || !strings.Contains(said, c.fails)):
				t.Errorf("kustomize does not fail with %q: %v\n%s%s", c.fails, err, out, said)
			case c.fails == "" && (err != nil || !strings.Contains(out, c.builds) || c.lacks != "" && strings.Contains(out, c.lacks)):
				t.Errorf("kustomize: %v\n%s%s", err, out, said)
			}
			lines, _, err := findTraps(t.Context(), dir, c.flags)
			if err != nil {
				t.Fatal(err)
			}
			if len(lines) != 1 || lines[0].Status != c.status || !strings.Contains(lines[0].Text, c.says) {
				t.Errorf("%+v; want %s: %s", lines, c.status, c.says)
			}
		})
	}
}

func (f trapFlags) args() []string {
	out := []string{"build"}
	if f.AlphaPlugins {
		out = append(out, "--enable-alpha-plugins")
	}
	if f.Exec {
		out = append(out, "--enable-exec")
	}
	return out
}

// TestCheckBuilt_FindsWhatFunctionsBreak: what functions break shows in what kustomize built.
func TestCheckBuilt_FindsWhatFunctionsBreak(t *testing.T) {
	programs(t)
	for name, c := range map[string]struct {
		config string
		status verdictStatus
		says   string
	}{
		"ours":          {ours, okVerdict, "references resolve"},
		"nothing":       {run("Any", "{path: 'true'}", ""), fail, "nothing was built"},
		"bookkeeping":   {run("Any", "{path: ./add}", ""), warnVerdict, "keeps the annotation kustomize.config.k8s.io/needs-hash"},
		"lost its name": {run("Any", "{path: stranger}", ""), fail, "refers to ConfigMap settings, which is called a-settings"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			for file, text := range base("namePrefix: a-\ntransformers: [config.yaml]\n", c.config) {
				write(t, filepath.Join(dir, file), text)
			}
			write(t, filepath.Join(dir, "add"), "#!/bin/sh\nsed 's/^items:$/items:\\n- {apiVersion: v1, kind: ConfigMap, metadata: {name: new, annotations: {kustomize.config.k8s.io\\/needs-hash: \"true\"}}}/'\n")
			out, said, err := kustomize.Run(t, dir, nil, "build", "--enable-alpha-plugins", "--enable-exec", ".")
			if err != nil {
				t.Fatal(err, said)
			}
			lines, err := checkBuilt([]byte(out), 1)
			if err != nil {
				t.Fatal(err)
			}
			if len(lines) != 1 || lines[0].Status != c.status || !strings.Contains(lines[0].Text, c.says) {
				t.Errorf("%+v; want %s: %s\n%s", lines, c.status, c.says, out)
			}
		})
	}
}

// TestCheckBuilt_FindsBrokenReferences: what names an object by another name than it was built with.
func TestCheckBuilt_FindsBrokenReferences(t *testing.T) {
	const deployment = "kind: Deployment\nmetadata: {name: a-web}\n---\n"
	for name, c := range map[string]struct{ text, says string }{
		"an autoscaler":   {deployment + "kind: HorizontalPodAutoscaler\nmetadata: {name: a-web}\nspec: {scaleTargetRef: {kind: Deployment, name: web}}\n", "refers to Deployment web, which is called a-web"},
		"of another kind": {deployment + "kind: HorizontalPodAutoscaler\nmetadata: {name: a-web}\nspec: {scaleTargetRef: {kind: CloneSet, name: web}}\n", ""},
		"a claim":         {"kind: PersistentVolumeClaim\nmetadata: {name: a-data}\n---\nkind: Pod\nmetadata: {name: p}\nspec: {volumes: [{name: d, persistentVolumeClaim: {claimName: data}}]}\n", "refers to PersistentVolumeClaim data"},
		"a service":       {"kind: Service\nmetadata: {name: a-web}\n---\nkind: StatefulSet\nmetadata: {name: a-web}\nspec: {serviceName: web}\n", "refers to Service web"},
	} {
		t.Run(name, func(t *testing.T) {
			lines, err := checkBuilt([]byte(c.text), 1)
			if err != nil || len(lines) != 1 || !strings.Contains(lines[0].Text, c.says) || (lines[0].Status == fail) != (c.says != "") {
				t.Errorf("%+v (%v), want %q", lines, err, c.says)
			}
		})
	}
}

// TestCheckBuilt_AdvisesByWhatBuilt: a kustomization without functions lacks what kustomize does not know.
func TestCheckBuilt_AdvisesByWhatBuilt(t *testing.T) {
	const text = "apiVersion: v1\nkind: Secret\nmetadata: {name: prod-shop-config-5fb8mgg5m6}\n---\napiVersion: apps.kruise.io/v1alpha1\nkind: CloneSet\nmetadata: {name: prod-shop}\nspec: {template: {spec: {containers: [{name: a, envFrom: [{secretRef: {name: shop-config}}]}]}}}\n"
	for functions, want := range map[int]string{0: "kustomize does not know the references of CloneSet: 'kubectl kruise schema kustomize --out kruise'", 1: "a function has to keep kustomize's annotations"} {
		lines, err := checkBuilt([]byte(text), functions)
		if err != nil || len(lines) != 1 || !strings.HasPrefix(lines[0].Hint, want) {
			t.Errorf("%d functions: %+v (%v), want %q", functions, lines, err, want)
		}
	}
}

// TestFindTraps_NamesPatchesThatDropContainers: with and without functions, which are not run.
func TestFindTraps_NamesPatchesThatDropContainers(t *testing.T) {
	programs := t.TempDir()
	if err := os.WriteFile(filepath.Join(programs, "kubectl-kruise"), nil, 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", programs)
	for name, more := range map[string]string{"no function": "", "a function": "transformers: [config.yaml]\n"} {
		dir := t.TempDir()
		for file, text := range map[string]string{
			"base/kustomization.yaml": "resources: [web.yaml]\n", "base/web.yaml": strings.ReplaceAll(strings.ReplaceAll(web, "apps/v1", "apps.kruise.io/v1alpha1"), "Deployment", "CloneSet"),
			"prod/kustomization.yaml": "resources: [../base]\npatches: [{path: p.yaml}]\n" + more, "prod/config.yaml": ours,
			"prod/p.yaml": "apiVersion: apps.kruise.io/v1alpha1\nkind: CloneSet\nmetadata: {name: web}\nspec: {template: {spec: {containers: [{name: side, image: side}]}}}\n",
		} {
			write(t, filepath.Join(dir, filepath.FromSlash(file)), text)
		}
		lines, _, err := findTraps(t.Context(), filepath.Join(dir, "prod"), trapFlags{true, true})
		if err != nil || len(lines) != 1 || lines[0].Status != warnVerdict || !strings.Contains(lines[0].Text, "p.yaml:4: CloneSet web: spec.template.spec.containers: the patch (line 4) replaces the whole list") || !strings.Contains(lines[0].Text, "main is dropped") {
			t.Errorf("%s: %+v (%v)", name, lines, err)
		}
	}
}

// TestKustomize_NamesRemoteResources: what is fetched is named, since its functions run here.
func TestKustomize_NamesRemoteResources(t *testing.T) {
	for entry, status := range map[string]verdictStatus{
		"https://example.com/app.yaml": warnVerdict, "github.com/a/b//c?ref=v1": warnVerdict, "git@example.com:a/b": warnVerdict, "example.org/a/b//c": warnVerdict,
		"../base": fail, "app.prod.yaml": fail, "deep/app.yaml": fail,
	} {
		dir := t.TempDir()
		write(t, filepath.Join(dir, "kustomization.yaml"), "resources: ['"+entry+"']\n")
		lines, _, err := findTraps(t.Context(), dir, trapFlags{true, true})
		if err != nil || len(lines) != 1 || lines[0].Status != status || !strings.Contains(lines[0].Text, entry) {
			t.Errorf("%s: %+v (%v), want %s", entry, lines, err, status)
		}
	}
}

func TestFindTraps_Refuses(t *testing.T) {
	dir := t.TempDir()
	if _, _, err := findTraps(t.Context(), dir, trapFlags{}); err == nil || !strings.Contains(err.Error(), "no kustomization.yaml") {
		t.Error(err)
	}
	write(t, filepath.Join(dir, "kustomization.yaml"), "resources: {}\n")
	if _, _, err := findTraps(t.Context(), dir, trapFlags{}); err == nil {
		t.Error("that is no kustomization")
	}
	if _, err := checkBuilt([]byte("{"), 0); err == nil {
		t.Error("that is not YAML")
	}
}
