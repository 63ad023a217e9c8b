//go:build unix

package render_test

import (
	"maps"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// secret is what lies beside the repository, and is not for its readers.
const secret = "not-for-strangers"

// beside lays a repository out, with another one beside it, and goes into its folder
// apps/web. Links are from the repository's top, name to target; OUT in a target is the
// other repository.
func beside(t *testing.T, files, links map[string]string) (out string) {
	t.Helper()
	top := t.TempDir()
	out = filepath.Join(top, "other")
	write := func(path, text string, mode os.FileMode) {
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
	}
	write(filepath.Join(out, "secret"), secret, 0o600)
	write(filepath.Join(out, "base/secret"), secret, 0o600)
	write(filepath.Join(out, "base/kustomization.yaml"), "configMapGenerator: [{name: stolen, files: [secret]}]\n", 0o600)
	write(filepath.Join(out, "base/web.yaml"), cloneSet, 0o600)
	write(filepath.Join(top, "bin/helm"), helm, 0o700)
	for name, text := range files {
		write(filepath.Join(top, "repo", name), text, 0o600)
	}
	for name, target := range links {
		path := filepath.Join(top, "repo", name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(strings.NewReplacer("OUT", out, "TOP", filepath.Join(top, "repo")).Replace(target), path); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", filepath.Join(top, "bin")+string(filepath.ListSeparator)+os.Getenv("PATH"))
	t.Setenv("ARGS", filepath.Join(top, "args"))
	t.Chdir(filepath.Join(top, "repo/apps/web"))
	return top
}

// helm is a Helm that shows all files that it was given, as a template may with
// .Files.Get, and follows its flags.
const helm = `#!/bin/sh
printf '%s\n' "$@" > "$ARGS"
cat chart/web.tpl
for f in chart/values.yaml chart/files/*; do
  [ -f "$f" ] && sed 's/^/# /' "$f"
done
for a in "$@"; do
  case "$a" in
  --values=*) IFS=,; for v in ${a#--values=}; do sed 's/^/# /' "$v"; done; unset IFS ;;
  --post-renderer*) echo ran > "$ARGS.ran" ;;
  --) exit 0 ;;
  esac
done
`

var aChart = map[string]string{"apps/web/Chart.yaml": "name: web\n", "apps/web/web.tpl": cloneSet, "apps/values.yaml": "shared: yes\n"}

func and(files map[string]string, name, text string) map[string]string {
	out := map[string]string{name: text}
	maps.Copy(out, files)
	return out
}

// TestGenerate_StaysInTheRepository: what an application names is read in its repository,
// and nothing of the one beside it, whatever leads there.
func TestGenerate_StaysInTheRepository(t *testing.T) {
	const kustomization = "apps/web/kustomization.yaml"
	for name, c := range map[string]struct {
		files, links map[string]string
		parameters   string
	}{
		"a base by ..":                {map[string]string{kustomization: "resources: [../../../other/base]\n"}, nil, ""},
		"a base behind a link":        {map[string]string{kustomization: "resources: [base]\n"}, map[string]string{"apps/web/base": "../../../other/base"}, ""},
		"a base behind a long link":   {map[string]string{kustomization: "resources: [base]\n"}, map[string]string{"apps/web/base": "OUT/base"}, ""},
		"a base behind links":         {map[string]string{kustomization: "resources: [a/b]\n"}, map[string]string{"apps/web/a": "../../lib", "lib/b": "deep/c", "lib/deep/c": "../../../other/base"}, ""},
		"a folder of bases by a link": {map[string]string{kustomization: "resources: [all/base]\n"}, map[string]string{"apps/web/all": "OUT"}, ""},
		"a component":                 {map[string]string{kustomization: "components: [c]\nresources: []\n"}, map[string]string{"apps/web/c": "OUT/base"}, ""},
		"a generator folder":          {map[string]string{kustomization: "generators: [g]\n"}, map[string]string{"apps/web/g": "OUT/base"}, ""},
		"a file of a generator":       {map[string]string{kustomization: "configMapGenerator: [{name: a, files: [x]}]\n"}, map[string]string{"apps/web/x": "OUT/secret"}, ""},
		"a long name":                 {map[string]string{kustomization: "configMapGenerator: [{name: a, files: [/proc/self/environ]}]\n"}, nil, ""},
		"the kustomization":           {map[string]string{"apps/web/x": ""}, map[string]string{kustomization: "OUT/base/kustomization.yaml"}, ""},
		"a file of the directory":     {map[string]string{"apps/web/x": ""}, map[string]string{"apps/web/web.yaml": "OUT/base/web.yaml"}, ""},
		"a folder of the directory":   {map[string]string{"apps/web/x": ""}, map[string]string{"apps/web/more": "OUT/base"}, `[{"name":"recurse","string":"true"}]`},
		"facts":                       {map[string]string{"apps/web/web.yaml": cloneSet}, map[string]string{"facts.yaml": "OUT/secret"}, `[{"name":"with","array":["../../facts.yaml"]}]`},
		"the options":                 {map[string]string{"apps/web/web.yaml": cloneSet}, map[string]string{"apps/web/kruise-render.yaml": "OUT/secret"}, ""},
		"values of a chart":           {aChart, map[string]string{"apps/web/values.yaml": "OUT/secret"}, ""},
		"a file of a chart":           {aChart, map[string]string{"apps/web/files/x": "../../../../other/secret"}, ""},
		"a folder of a chart":         {aChart, map[string]string{"apps/web/files": "OUT"}, ""},
		"named values":                {aChart, map[string]string{"v.yaml": "OUT/secret"}, `[{"name":"helmValues","array":["../../v.yaml"]}]`},
		"values by ..":                {aChart, nil, `[{"name":"helmValues","array":["../../../other/secret"]}]`},
		"values after a comma":        {aChart, nil, `[{"name":"helmValues","array":["v,OUT/secret"]}]`},
		"a chart in a chart":          {aChart, map[string]string{"apps/web/charts/sub": "OUT/base"}, ""},
		"a chart that holds itself":   {aChart, map[string]string{"apps/web/charts/sub": "TOP/apps"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			top := beside(t, c.files, c.links)
			env := argo
			if c.parameters != "" {
				env = with("ARGOCD_APP_PARAMETERS", strings.ReplaceAll(c.parameters, "OUT", filepath.Join(top, "other")))
			}
			out, complaint, code := run(t, env, "argocd", "generate")
			if code == 0 || out != "" {
				t.Errorf("exit code %d\n%s\n%s", code, out, complaint)
			}
			if strings.Contains(out+complaint, secret) {
				t.Errorf("it shows what is beside the repository:\n%s\n%s", out, complaint)
			}
		})
	}
}

// TestGenerate_FileNameWithACommaIsOneFile: a file whose name holds a comma is one file.
func TestGenerate_FileNameWithACommaIsOneFile(t *testing.T) {
	top := beside(t, aChart, nil)
	decoy := "v," + filepath.Join(top, "other", "secret")
	if err := os.MkdirAll(filepath.Dir(decoy), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(decoy, []byte("fine: yes\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	out, complaint, code := run(t, with("ARGOCD_APP_PARAMETERS", `[{"name":"helmValues","array":["`+decoy+`"]}]`), "argocd", "generate")
	if code != 0 || strings.Contains(out+complaint, secret) {
		t.Errorf("exit code %d\n%s\n%s", code, out, complaint)
	}
}

// TestGenerate_RunsHelmAsArgoCDDoes: helm gets the arguments that Argo CD's own would, over a tree without links; its
// output is rendered. Names are no flags.
func TestGenerate_RunsHelmAsArgoCDDoes(t *testing.T) {
	files := and(aChart, "lib/x", "inside: yes\n")
	for name, env := range map[string]map[string]string{
		"web":                        with("ARGOCD_APP_PARAMETERS", `[{"name":"helmValues","array":["../values.yaml"]}]`),
		"--post-renderer=./evil.sh":  with("ARGOCD_APP_NAME", "--post-renderer=./evil.sh"),
		"--kubeconfig=/proc/environ": with("ARGOCD_APP_NAME", "--kubeconfig=/proc/environ"),
	} {
		t.Run(name, func(t *testing.T) {
			top := beside(t, files, map[string]string{"apps/web/files/x": "../../../lib/x", "apps/web/files/y": "TOP/lib/x"})
			out, complaint, code := run(t, env, "argocd", "generate")
			if code != 0 || !strings.Contains(out, "kind: Deployment") {
				t.Fatalf("exit code %d\n%s\n%s", code, out, complaint)
			}
			args, err := os.ReadFile(filepath.Join(top, "args"))
			if err != nil {
				t.Fatal(err)
			}
			want := "template --include-crds --namespace=shop --kube-version=1.35 --api-versions=v1 --api-versions=apps/v1"
			if name == "web" {
				want += " --values=values-1.yaml"
			}
			if got := strings.Join(strings.Split(strings.TrimSpace(string(args)), "\n"), " "); got != want+" -- "+name+" chart" {
				t.Errorf("helm was called with %q, want %q and the name", got, want)
			}
			if _, err := os.Stat(filepath.Join(top, "args.ran")); err == nil {
				t.Error("a name was taken for a flag")
			}
		})
	}
}

// TestGenerate_ReadsTheWholeRepository: an application may read all of its repository, and
// follows links in it.
func TestGenerate_ReadsTheWholeRepository(t *testing.T) {
	for name, c := range map[string]struct{ files, links map[string]string }{
		"a base elsewhere":  {map[string]string{"apps/web/kustomization.yaml": "resources: [../../lib/base]\n", "lib/base/kustomization.yaml": "resources: [web.yaml]\n", "lib/base/web.yaml": cloneSet}, nil},
		"a linked base":     {map[string]string{"apps/web/kustomization.yaml": "resources: [base]\n", "lib/base/kustomization.yaml": "resources: [web.yaml]\n", "lib/base/web.yaml": cloneSet}, map[string]string{"apps/web/base": "../../lib/base"}},
		"a linked manifest": {map[string]string{"apps/web/x": "", "lib/web.yaml": cloneSet}, map[string]string{"apps/web/web.yaml": "../../lib/web.yaml"}},
		"a long link":       {map[string]string{"apps/web/x": "", "lib/web.yaml": cloneSet}, map[string]string{"apps/web/web.yaml": "TOP/lib/web.yaml"}},
	} {
		t.Run(name, func(t *testing.T) {
			beside(t, c.files, c.links)
			if out, complaint, code := run(t, argo, "argocd", "generate"); code != 0 || !strings.Contains(out, "kind: Deployment") {
				t.Errorf("exit code %d\n%s\n%s", code, out, complaint)
			}
		})
	}
}

// TestGenerate_FolderThatIsALink: a folder that is a link does not move the repository.
func TestGenerate_FolderThatIsALink(t *testing.T) {
	top := beside(t, map[string]string{"apps/web/x": "", "kustomization.yaml": "resources: [../other/base]\n"}, map[string]string{"deep": "."})
	for _, pwd := range []string{filepath.Join(top, "repo/deep/deep"), ""} {
		t.Chdir(filepath.Join(top, "repo/deep/deep"))
		t.Setenv("PWD", pwd)
		if out, complaint, code := run(t, with("ARGOCD_APP_SOURCE_PATH", "deep/deep"), "argocd", "generate"); code == 0 || strings.Contains(out+complaint, secret) {
			t.Errorf("exit code %d\n%s\n%s", code, out, complaint)
		}
	}
}

// TestGenerate_RefusesPipes: a pipe in the repository is refused, and not waited for.
func TestGenerate_RefusesPipes(t *testing.T) {
	for _, name := range []string{"values.yaml", "files/x"} {
		beside(t, and(aChart, "apps/web/files/y", ""), nil)
		if err := syscall.Mkfifo(name, 0o600); err != nil {
			t.Skip(err)
		}
		if _, complaint, code := run(t, argo, "argocd", "generate"); code == 0 || !strings.Contains(complaint, name+": is no regular file") {
			t.Errorf("exit code %d\n%s", code, complaint)
		}
	}
}
