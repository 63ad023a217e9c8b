package kruise_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/checkout"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
)

// TestVersionsPage_IsUpToDate holds docs/kruise/versions.md against the tables; UPDATE=1 in the
// environment writes it.
func TestVersionsPage_IsUpToDate(t *testing.T) {
	file := checkout.Path("docs", "kruise", "versions.md")
	want := versionsPage()
	if os.Getenv("UPDATE") != "" {
		if err := os.WriteFile(file, []byte(want), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	have, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(have), want); diff != "" {
		t.Errorf("UPDATE=1 go test ./pkg/kruise -run VersionsPage writes %s (-page +tables):\n%s", file, diff)
	}
}

const versionsIntro = `<!-- Generated: UPDATE=1 go test ./pkg/kruise -run VersionsPage -->
# Differences between releases of Kruise

**Who needs this page:** you write manifests for a certain release of Kruise, or upgrade Kruise.

The page lists which version of each API to write for which release, when fields were added, and what an older
release silently drops. It is made from the definitions and types of the releases 1.0 to 1.9,
and of Kruise's main branch of July 2026, which is called next here. Versions and fields
are known for all of them; responses to objects were recorded for 1.5, 1.8, 1.9 and next.

` + "`lint`, `render`, `diff`, `convert`, `create`, `plan`, `simulate`, `explain inplace`, `migrate`" + `
and ` + "`schema json`" + ` take the release from
` + "`--kruise-version`" + `, such as ` + "`--kruise-version 1.8`" + ` or ` + "`next`" + `. Verbs that read a cluster detect
the release: by the image of Kruise's controllers, otherwise by its definitions. Without either,
and without ClusterFacts with a release, it is the newest one, 1.9; what only other releases
accept is then a warning of lint. In a function config (RenderConfig, Argo CD) the option is ` + "`kruise`" + `.
The output of ` + "`schema kustomize`" + ` is valid for all releases.

A plan behaves like the release: the defaults of its feature gates, how it rounds, and none of
the fields that it drops. SidecarSets before 1.7.5 round percentages of ` + "`partition`" + ` and
` + "`maxUnavailable`" + ` down, later ones up.

A write of an Advanced StatefulSet as v1alpha1 loses what only v1beta1 has: ` + "`reserveOrdinals`" + `,
` + "`lifecycle`" + ` and other fields of the spec, and in the status ` + "`updatedReadyReplicas`" + ` and
` + "`updatedAvailableReplicas`" + `, which Kruise does not write again until a pod moves. So
` + "`kubectl kruise apply`" + ` sends it as v1beta1, which all releases serve.

## Which version to write

v1alpha1 is served by every release that has the kind, so write it for all of
them, except for a StatefulSet, whose v1beta1 has more fields and is served by all releases as well.

| Kind | v1alpha1 | v1beta1 |
|---|---|---|
`

const versionsForms = `
## Forms that two releases read differently

| Where | Up to | From then on |
|---|---|---|
| UnitedDeployment ` + "`spec.template.cloneSetTemplate.spec`" + ` | up to 1.9 that of a CloneSet in v1alpha1: ` + "`updateStrategy.partition`, `updateStrategy.type: InPlaceIfPossible`" + ` | that of v1beta1: ` + "`updateStrategy.rollingUpdate`" + ` |
| UnitedDeployment ` + "`spec.template.advancedStatefulSetTemplate.spec`" + ` | up to 1.0 that of a StatefulSet in v1alpha1 | that of v1beta1 |
| AdvancedCronJob ` + "`spec.template.jobTemplate`" + ` | up to 1.2 a template of batch/v1beta1 | of batch/v1 |

Without a release, the program reads a cloneSetTemplate by the fields that it has,
and says so. ` + "`convert`" + ` writes it in the form that the release reads.

## Arithmetic and effects

- Percentages of a SidecarSet's ` + "`maxUnavailable` and `partition`" + ` are rounded up since 1.7.5
  and 1.8.0, and down before.
- A ResourceDistribution with ` + "`allNamespaces`" + ` copies to ` + "`kube-system` and `kube-public`" + `, too, in
  every release up to 1.9; next leaves them out.
- A write of a StatefulSet in v1alpha1 drops fields of its status that only v1beta1 has
  (` + "`updatedAvailableReplicas`, `updatedReadyReplicas`" + `), even when nothing changes, and Kruise
  does not write them again until something changes: write StatefulSets in v1beta1.

## How to find the release of a cluster

It is the tag of the image of the Deployment in ` + "`kruise-system`" + `. If you may not read that, the
definitions show it: CloneSet served as v1beta1 is next; SidecarSet served as v1beta1, or
` + "`progressDeadlineSeconds`" + ` in a CloneSet, is 1.9 or later; ` + "`volumeClaimUpdateStrategy`" + ` in a
StatefulSet is 1.8 or later; ` + "`ordinals`" + ` there is 1.7 or later; ` + "`imagePullPolicy`" + ` in an
ImagePullJob is 1.6 or later; ImageListPullJob is 1.5 or later.
`

// versionsPage is the page in Markdown.
func versionsPage() string {
	var b strings.Builder
	b.WriteString(versionsIntro)
	for _, k := range kruise.Kinds() {
		cells := make([]string, 2)
		for i, v := range []string{kruise.V1alpha1, kruise.V1beta1} {
			cells[i] = "none"
			if s, ok := kruise.ServedIn(k.Group, k.Kind, v); ok {
				cells[i] = sinceCell(s)
			}
		}
		fmt.Fprintf(&b, "| %s | %s | %s |\n", k.Kind, cells[0], cells[1])
	}
	b.WriteString("\n## Silently dropped fields\n\nThe schemas of containers of a SidecarSet keep fields that they do not know; an older webhook\ndrops them: no error, no warning, and no effect. `lint --kruise-version` and `render` report it.\n\n")
	fieldTable(&b, true)
	b.WriteString("\n## Fields that were added, removed or changed\n\nA field that a release lacks is refused where the API server is asked to be strict, which is\nkubectl's default, and dropped otherwise. Fields below a field were added and removed with it.\n\n")
	fieldTable(&b, false)
	b.WriteString(versionsForms)
	b.WriteString("\n## Feature gates of Kruise's manager\n\nDefaults by release; `doctor` reports the gates of the cluster.\n\n| Gate | Default |\n|---|---|\n")
	for _, g := range kruise.Gates() {
		fmt.Fprintf(&b, "| `%s` | %s |\n", g.Name, gateCell(g))
	}
	b.WriteString("\n**What next:** [lint for a release](../lint.md#for-a-release-of-kruise) · [supported servers](../stability.md#supported-servers).\n")
	return b.String()
}

func sinceCell(s kruise.Span) string {
	switch {
	case s.First == kruise.Next:
		return "next only"
	case s.First == kruise.Minor(0):
		return "all"
	}
	return "since " + s.First.String()
}

func fieldTable(b *strings.Builder, kept bool) {
	b.WriteString("| Kind | Field | Releases |\n|---|---|---|\n")
	for _, h := range kruise.FieldHistories() {
		if h.Kept != kept {
			continue
		}
		path := h.Path
		if h.Value != "" {
			path += ": " + h.Value
		}
		var says []string
		if h.First != kruise.Minor(0) || !h.Last.IsZero() {
			says = append(says, strings.ReplaceAll(h.Words(), "Kruise ", ""))
		}
		if h.Changes != "" {
			says = append(says, changeCell(h.Changes))
		}
		fmt.Fprintf(b, "| %s %s | `%s` | %s |\n", h.Kind, h.Version, path, strings.Join(says, "; "))
	}
}

// changeCell is a change in words: "v1.9.0: type integer→-" becomes "from 1.9 text as well".
func changeCell(text string) string {
	since, what, _ := strings.Cut(text, ": ")
	r, err := kruise.ParseRelease(since)
	from := "from " + r.Minor().String()
	if err != nil {
		from = "in next"
	}
	switch {
	case what == "type integer→-":
		return "a whole number before, " + from + " text as well"
	case strings.HasPrefix(what, "minimum 0→-"):
		return from + " no minimum in the schema"
	}
	return from + " " + strings.ReplaceAll(what, "-→", "new: ")
}

func gateCell(g kruise.Gate) string {
	var cells []string
	last := ""
	for _, r := range kruise.Releases() {
		on, stage, there := g.Default(r)
		cell := "not there"
		if there {
			cell = map[bool]string{true: "on", false: "off"}[on] + " (" + stage + ")"
		}
		if cell != last && (there || last != "") {
			if r == kruise.Minor(0) {
				cells = append(cells, cell)
			} else {
				cells = append(cells, "since "+r.String()+" "+cell)
			}
		}
		if cell != last {
			last = cell
		}
	}
	return strings.Join(cells, ", ")
}
