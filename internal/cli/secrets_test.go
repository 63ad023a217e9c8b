package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// marks are in every secret value of testdata/secrets and of these tests, also in
// base64.
var marks = []string{"zebra", "emVicmE"}

// tight fails the test when a text holds anything secret.
func tight(t *testing.T, what, text string) {
	t.Helper()
	for line := range strings.Lines(text) {
		for _, mark := range marks {
			if strings.Contains(line, mark) {
				t.Errorf("%s: %s", what, strings.TrimSpace(line))
			}
		}
	}
}

// TestSecrets_AreNotShown: no command on files that does not write objects shows what is secret
// in them.
func TestSecrets_AreNotShown(t *testing.T) {
	dir := filepath.Join("testdata", "secrets")
	change := " -f " + dir + "/new.yaml --against " + dir + "/old.yaml"
	for line, want := range map[string]int{
		"diff OLD NEW": exitDiffers, "diff OLD NEW -v": exitDiffers, "diff OLD NEW -o markdown -v": exitDiffers, "diff OLD NEW -o json": exitDiffers,
		"diff OLD NEW --rendered -v": exitDiffers, "diff OLD NEW --rendered -o json": exitDiffers, "diff NEW /dev/null -v": exitDiffers, "diff /dev/null NEW -v": exitDiffers,
		"lint -f NEW": 0, "lint -f NEW -o json": 0, "lint -f NEW -o sarif": 0,
		"explain inplace OLD NEW -v": 0,
		"plan" + change:              0, "plan -v" + change: 0, "plan -o markdown" + change: 0, "plan -o svg" + change: 0,
		"simulate" + change: 0, "simulate -v" + change: 0, "simulate -o json" + change: 0,
		"render -f NEW --explain -v --out OUT/1 --report OUT/report":  0,
		"render -f NEW --against OLD --patches-dir OUT/2 --out OUT/3": 0,

		"render -f NEW --limit objects=1 -v": exitError,
	} {
		t.Run(line, func(t *testing.T) {
			to := t.TempDir()
			args := strings.NewReplacer("OLD", dir+"/old.yaml", "NEW", dir+"/new.yaml", "OUT", to).Replace(line)
			code, out, said := call(t.Context(), t, "", strings.Fields(args)...)
			if code != want {
				t.Errorf("exit %d, want %d\n%s%s", code, want, out, said)
			}
			tight(t, "stdout", out)
			tight(t, "stderr", said)
			report, _ := os.ReadFile(filepath.Join(to, "report")) // most write none
			tight(t, "report", string(report))
		})
	}
}

// TestPlanFile_HoldsTheWholeTemplate: the plan itself, for the machine that carries it out, does hold
// what the template holds, but nothing of a Secret.
func TestPlanFile_HoldsTheWholeTemplate(t *testing.T) {
	dir := filepath.Join("testdata", "secrets")
	_, out, _ := call(t.Context(), t, "", "plan", "-o", "yaml", "-f", dir+"/new.yaml", "--against", dir+"/old.yaml")
	if !strings.Contains(out, "zebra-new-seven") {
		t.Errorf("the patch is not whole:\n%s", out)
	}
	for _, text := range []string{"emVicmE", "zebra-new-two", "zebra-two"} {
		if strings.Contains(out, text) {
			t.Errorf("the value of a Secret is in the plan:\n%s", out)
		}
	}
}

// spoiled are Secrets that cannot be used, in every way that is known, with %s in place
// of the value.
var spoiled = []string{
	"apiVersion: v1\nkind: Secret\nmetadata: {name: a}\ndata: {word: %s}\n",
	"apiVersion: v1\nkind: Secret\nmetadata: {name: a}\ndata: %s\n",
	"apiVersion: v1\nkind: Secret\nmetadata: {name: a}\ndata: [%s]\n",
	"apiVersion: v1\nkind: Secret\nmetadata: {name: a}\nstringData: {word: [%s]}\n",
	"apiVersion: v1\nkind: Secret\nmetadata: {name: a}\nstringData: {word: {%s: 1}}\n",
	"apiVersion: v1\nkind: Secret\nmetadata: {name: a}\nstringData: {word: %s, word: %s}\n",
	"apiVersion: v1\nkind: Secret\nmetadata: {name: a}\nstringData: {word: *%s}\n",
	"apiVersion: v1\nkind: Secret\nmetadata: {name: a}\nstringData: {word: &%s x, b: *%sx}\n",
	"apiVersion: v1\nkind: Secret\nmetadata: {name: a}\nstringData: {word: !!int %s}\n",
	"apiVersion: v1\nkind: Secret\nmetadata: {name: a}\nstringData:\n  word: %s: %s\n",
	"apiVersion: v1\nkind: Secret\nmetadata: {name: a}\nstringData:\n  word: \"%s\n",
	"apiVersion: v1\nkind: Secret\nmetadata: {name: a}\nstringData:\n  word: \"\\q%s\"\n",
	"apiVersion: v1\nkind: Secret\nmetadata: {name: a}\nstringData:\n  word: |\n   %s\n  %s\n",
	"apiVersion: v1\nkind: Secret\nmetadata: {name: a}\nstringData:\n\tword: %s\n",
	"apiVersion: v1\nkind: Secret\nmetadata: {name: a}\nstringData: {word: @%s}\n",
	"apiVersion: v1\nkind: Secret\nmetadata: {name: a}\nstringData: {word: %%%s}\n",
	"apiVersion: v1\nkind: Secret\nmetadata: {name: a}\nstringData: {<<: %s}\n",
	`{"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "a"}, "stringData": {"word": "%s}`,
	`{"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "a"}, "stringData": {"word": %s}}`,
	"apiVersion: v1\nkind: Secret\nmetadata: {name: a}\nstringData: {word: %s}\n---\napiVersion: v1\nkind: Secret\nmetadata: {name: a}\nstringData: {word: %s}\n",
	"apiVersion: apps.kruise.io/v1alpha1\nkind: ResourceDistribution\nmetadata: {name: a}\nspec: {resource: {apiVersion: v1, kind: Secret, metadata: {name: b}, data: %s}, targets: {allNamespaces: true}}\n",
	"apiVersion: apps.kruise.io/v1alpha1\nkind: ResourceDistribution\nmetadata: {name: a}\nspec: {resource: {apiVersion: v1, kind: Secret, data: {word: %s}}, targets: {}}\n",
	"apiVersion: apps.kruise.io/v1alpha1\nkind: ResourceDistribution\nmetadata: {name: a}\nspec: {resource: [%s]}\n",
	"apiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: Secret, stringData: {word: %s}}\n- %s\n",
	"apiVersion: v1\nkind: Secret\nmetadata: {name: a, annotations: {token: [%s]}}\n",
	"apiVersion: v1\nkind: Secret\nmetadata: {name: a, labels: {password: {%s: %s}}}\n",
	"apiVersion: v1\nkind: Secret\nmetadata: {name: a}\ntype: [%s]\nimmutable: %s\ndata: {word: 5}\n",
	"apiVersion: v1\nkind: Secret\nmetadata: {name: a}\nstringData:\n  word: &%s [*%s]\n",
	"apiVersion: v1\nkind: Secret\nmetadata: {name: a}\nstringData:\n  word: x\n %s: y\n   %s\n",
	"apiVersion: v1\nkind: Secret\nmetadata: {name: a}\nstringData: {word: !!binary %s, date: !!timestamp %s, b: !!bool %s, f: !!float %s, n: !!null %s, u: !%s x}\n",
	"apiVersion: v1\nkind: Secret\nmetadata: {name: a}\nstringData:\n  word: '%s\n...\n%s'\n",
	"%%YAML 1.3 %s\n---\napiVersion: v1\nkind: Secret\n",
	"%%TAG ! %s\n---\napiVersion: v1\nkind: Secret\n",
	"%s\n", "- %s\n", "%s: [\n", "{%s\n", "\"%s\n",
	"apiVersion: apps.kruise.io/v1beta1\nkind: SidecarSet\nmetadata: {name: a}\nspec: {selector: {matchLabels: {a: b}}, containers: [{name: c, image: c, env: [{name: DB_PASSWORD, value: [%s]}]}]}\n",
	"apiVersion: apps.kruise.io/v1beta1\nkind: SidecarSet\nmetadata: {name: a}\nspec: {selector: {matchLabels: {a: b}}, containers: [{name: c, image: c, env: [{name: DB_PASSWORD, value: {%s: 5}}, {name: DB_PASSWORD, value: %s}]}]}\n",
	"apiVersion: apps.kruise.io/v1beta1\nkind: CloneSet\nmetadata: {name: a}\nspec: {replicas: 1, selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}, annotations: {token: {%s: 1}}}, spec: {containers: [{name: c, image: c, args: [--password, %s, --token=%s, {%s: 1}]}]}}}\n",
	`{"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "a"}, "data": {"word": "\u00%s"}}`,
	`{"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "a"}, "data": {"word": "%s", "word": "%s"} "%s"}`,
}

// TestErrors_DoNotShowSecrets: what is wrong with a Secret is reported without its values, by every
// command that reads manifests and by the KRM function. Objects themselves are not looked
// at: those of `render` are in a folder, and those of `convert` and `fn` on standard output,
// which is the product.
func TestErrors_DoNotShowSecrets(t *testing.T) {
	for i, text := range spoiled {
		text = fmt.Sprintf(strings.ReplaceAll(text, "%s", "%[1]s"), "zebra-one")
		path := file(t, text)
		for _, line := range []string{
			"render -f IN --out OUT", "lint -f IN", "convert -f IN --to native", "diff IN /dev/null", "diff /dev/null IN -o json", "plan -f IN --against IN", "simulate IN", "plan -f IN --strategy IN --against IN",
			"render -f IN --with IN --out OUT", "explain inplace IN IN", "lint -f IN -o sarif", "lint -f IN -o json -v", "lint -f IN -v=9",
			"render -f - --out OUT", "lint -f -", "plan -f - --against IN", "lint -f DIR", "render -f DIR --out OUT",
		} {
			args := strings.NewReplacer("IN", path, "DIR", filepath.Dir(path), "OUT", filepath.Join(t.TempDir(), "out")).Replace(line)
			stdin := ""
			if strings.Contains(line, "-f - ") || strings.HasSuffix(line, "-f -") {
				stdin = text
			}
			_, out, said := call(t.Context(), t, stdin, strings.Fields(args)...)
			if strings.HasPrefix(line, "convert") {
				out = "" // what was converted, or came through
			}
			tight(t, fmt.Sprintf("%d: %s", i, line), out+said)
		}
		_, _, said := call(t.Context(), t, "apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems:\n- "+strings.ReplaceAll(strings.TrimSpace(text), "\n", "\n  ")+"\n", "fn")
		tight(t, fmt.Sprintf("%d: fn", i), said)
	}
}

// TestGeneratorErrors_DoNotShowSecrets: nor do errors of kustomizations whose generators read them.
func TestGeneratorErrors_DoNotShowSecrets(t *testing.T) {
	for name, files := range map[string]map[string]string{
		"literal":      {"kustomization.yaml": "secretGenerator: [{name: a, literals: [zebra-one]}]\n"},
		"two literals": {"kustomization.yaml": "secretGenerator: [{name: a, literals: [a=zebra-one, a=zebra-two]}]\n"},
		"environment":  {"kustomization.yaml": "secretGenerator: [{name: a, envs: [env]}]\n", "env": "zebra one\x80=x\n"},
		"odd type":     {"kustomization.yaml": "secretGenerator: [{name: a, literals: {a: zebra-one}}]\n"},
		"patch":        {"kustomization.yaml": "resources: [a.yaml]\npatches: [{patch: 'zebra-one: [', target: {kind: Secret}}]\n", "a.yaml": "apiVersion: v1\nkind: Secret\nmetadata: {name: a}\n"},
		"JSON patch":   {"kustomization.yaml": "resources: [a.yaml]\npatches: [{patch: '[{op: test, path: /data/a, value: zebra-one}]', target: {kind: Secret}}]\n", "a.yaml": "apiVersion: v1\nkind: Secret\nmetadata: {name: a}\ndata: {a: emVicmEtb25l}\n"},
		"no patch":     {"kustomization.yaml": "resources: [a.yaml]\npatches: [{patch: 'stringData: {a: zebra-one}'}]\n", "a.yaml": "apiVersion: v1\nkind: Secret\nmetadata: {name: a}\n"},
		"resource":     {"kustomization.yaml": "resources: [a.yaml]\n", "a.yaml": "apiVersion: v1\nkind: Secret\nstringData: {a: zebra-one}\n"},
		"broken":       {"kustomization.yaml": "resources: [a.yaml]\n", "a.yaml": "apiVersion: v1\nkind: Secret\nmetadata: {name: a}\nstringData: {a: zebra-one: [}\n"},
		"twice":        {"kustomization.yaml": "resources: [a.yaml, b.yaml]\n", "a.yaml": "apiVersion: v1\nkind: Secret\nmetadata: {name: a}\nstringData: {a: zebra-one}\n", "b.yaml": "apiVersion: v1\nkind: Secret\nmetadata: {name: a}\nstringData: {a: zebra-two}\n"},
		"replacement":  {"kustomization.yaml": "resources: [a.yaml]\nreplacements: [{source: {kind: Secret, fieldPath: stringData.a, options: {delimiter: '-', index: 9}}, targets: [{select: {kind: Secret}, fieldPaths: [stringData.b.c.d]}]}]\n", "a.yaml": "apiVersion: v1\nkind: Secret\nmetadata: {name: a}\nstringData: {a: zebra-one}\n"},
		"function":     {"kustomization.yaml": "resources: [a.yaml]\ntransformers: [t.yaml]\n", "a.yaml": "apiVersion: v1\nkind: Secret\nmetadata: {name: a}\nstringData: {a: zebra-one}\n", "t.yaml": "apiVersion: builtin\nkind: NoSuchTransformer\nmetadata: {name: t}\nvalue: zebra-one\n"},
		"merge":        {"kustomization.yaml": "secretGenerator: [{name: a, behavior: merge, literals: [a=zebra-one]}]\n"},
	} {
		dir := t.TempDir()
		for path, text := range files {
			if err := os.WriteFile(filepath.Join(dir, path), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		for _, line := range []string{
			"render -k " + dir + " --out " + t.TempDir() + "/out", "lint -k " + dir, "lint -v=9 -o sarif -k " + dir, "diff " + dir + " /dev/null", "diff /dev/null " + dir, "plan -k " + dir + " --against /dev/null",
		} {
			code, out, said := call(t.Context(), t, "", strings.Fields(line)...)
			if name != "two literals" && strings.HasPrefix(line, "render") && code == 0 {
				t.Errorf("%s: it is no error", name)
			}
			tight(t, name+": "+line[:6], out+said)
		}
	}
}
