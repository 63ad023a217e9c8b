package inspect

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/duration"
	"k8s.io/kubectl/pkg/describe"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/resourcearg"
	safe "github.com/kubectl-kruise/kubectl-kruise/internal/text"
	"github.com/kubectl-kruise/kubectl-kruise/internal/view"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/stage"
)

// relatedObjects is what belongs to an object.
type relatedObjects struct {
	// pods is nil where the kind has none; without is why they are not shown.
	pods      []corev1.Pod
	hasPods   bool
	without   string
	revisions []appsv1.ControllerRevision
	// events is nil where they were not asked for.
	events *corev1.EventList
}

// lastApplied is the annotation that holds a copy of the object.
const lastApplied = corev1.LastAppliedConfigAnnotation

// kindPage describes an object of Kruise, for a terminal of so many columns, 0 for none.
func kindPage(u *unstructured.Unstructured, a relatedObjects, columns int, now time.Time) string {
	p := &page{columns: columns}
	p.row("Name", "%s", u.GetName())
	if u.GetNamespace() != "" {
		p.row("Namespace", "%s", u.GetNamespace())
	}
	p.row("Kind", "%s", u.GetKind())
	p.row("API Version", "%s", u.GetAPIVersion())
	p.set("Labels", u.GetLabels())
	p.set("Annotations", u.GetAnnotations(), lastApplied)
	p.row("Created", "%s (%s ago)", u.GetCreationTimestamp().UTC().Format(time.RFC3339), duration.HumanDuration(now.Sub(u.GetCreationTimestamp().Time)))
	if t := u.GetDeletionTimestamp(); t != nil {
		p.row("Deletion", "since %s, waits for: %s", t.UTC().Format(time.RFC3339), strings.Join(u.GetFinalizers(), ", "))
	}
	p.summary(u, now)
	p.spec(u)
	p.status(u)
	p.related(u, a, now)
	return p.text.String()
}

// summary is what get shows of an object but for its name and age, in words.
func (p *page) summary(u *unstructured.Unstructured, now time.Time) {
	var out []string
	for _, c := range tables[u.GroupVersionKind().GroupKind()] {
		if value := c.show(u.Object, now); !c.wide && c.title != created.title && value != noValue && value != "" {
			out = append(out, strings.ToLower(strings.ReplaceAll(c.title, "_", " "))+" "+value)
		}
	}
	if len(out) > 0 {
		p.row("Summary", "%s", strings.Join(out, ", "))
	}
}

// spec writes what is wanted, templates of pods as kubectl does.
func (p *page) spec(u *unstructured.Unstructured) {
	object := hideSecrets(runtime.DeepCopyJSON(u.Object))
	var templates []map[string]any
	for _, path := range stage.TemplatePaths(u.GroupVersionKind().Group, u.GetKind()) {
		steps := strings.Split(path, ".")
		if t, ok, _ := unstructured.NestedMap(object, steps...); ok {
			templates = append(templates, t)
			unstructured.RemoveNestedField(object, steps...)
		}
	}
	spec, _ := object["spec"].(map[string]any)
	p.tree("Spec", spec)
	for _, t := range templates {
		p.template(t)
	}
}

func (p *page) template(t map[string]any) {
	t, _ = inLines("", t).(map[string]any)
	var typed corev1.PodTemplateSpec
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(t, &typed); err != nil {
		p.tree("Pod Template", t)
		return
	}
	p.text.WriteString(nativePart(func(w describe.PrefixWriter) { describe.DescribePodTemplate(&typed, w) }))
}

// ofSeveralLines are fields that kubectl describes line by line.
var ofSeveralLines = []string{"args", "command", "value"}

// inLines is a part of an object whose values stay within their lines, but for those of several.
func inLines(key string, v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for k, item := range v {
			out[k] = inLines(k, item)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			out[i] = inLines(key, item)
		}
		return out
	case string:
		if slices.Contains(ofSeveralLines, key) {
			return safe.Block(v)
		}
		return safe.Line(v)
	}
	return v
}

// status writes the status of the object, conditions as a table.
func (p *page) status(u *unstructured.Unstructured) {
	status, _ := u.Object["status"].(map[string]any)
	rest := maps.Clone(status)
	conditions, _ := rest["conditions"].([]any)
	delete(rest, "conditions")
	p.tree("Status", rest)
	if len(conditions) == 0 {
		return
	}
	rows := [][]string{{"Type", "Status", "Since", "Reason", "Message"}}
	for _, c := range conditions {
		m, _ := c.(map[string]any)
		at := func(key string) string { s, _ := m[key].(string); return strings.Join(strings.Fields(s), " ") }
		rows = append(rows, []string{at("type"), at("status"), at("lastTransitionTime"), at("reason"), at("message")})
		if failed, ok := m["failedNamespaces"]; ok {
			rows[len(rows)-1][4] += " " + listText(failed)
		}
	}
	p.table("Conditions", rows)
}

func listText(v any) string {
	var out []string
	entries, _ := v.([]any)
	for _, e := range entries {
		if s, ok := e.(string); ok {
			out = append(out, s)
		}
	}
	return strings.Join(out, ",")
}

// related writes what belongs to the object.
func (p *page) related(u *unstructured.Unstructured, a relatedObjects, now time.Time) {
	if len(a.revisions) > 0 {
		p.table("Revisions", p.fit(revisionRows(a, now)))
	}
	switch {
	case a.without != "":
		p.row("Pods", "%s", a.without)
	case a.hasPods:
		p.table("Pods", p.fit(podRows(u, a.pods, now)))
	}
	if a.events != nil {
		p.text.WriteString(nativePart(func(w describe.PrefixWriter) { describe.DescribeEvents(a.events, w) }))
	}
}

func revisionRows(a relatedObjects, now time.Time) [][]string {
	slices.SortFunc(a.revisions, func(x, y appsv1.ControllerRevision) int { return int(x.Revision - y.Revision) })
	rows := [][]string{{"Revision", "Name", "Pods", "Age"}}
	for i := range a.revisions {
		r := &a.revisions[i]
		count := 0
		for j := range a.pods {
			// The label is the name, or its last part.
			if hash := resourcearg.PodRevision(&a.pods[j]); hash != "" && (hash == r.Name || strings.HasSuffix(r.Name, "-"+hash)) {
				count++
			}
		}
		rows = append(rows, []string{strconv.FormatInt(r.Revision, 10), r.Name, strconv.Itoa(count), duration.HumanDuration(now.Sub(r.CreationTimestamp.Time))})
	}
	return rows
}

// podRows are pods, with their namespaces where the object has none.
func podRows(u *unstructured.Unstructured, list []corev1.Pod, now time.Time) [][]string {
	rows := [][]string{{"Name", "Ready", "Status", "Restarts", "Revision", "Age", "Node"}}
	for i := range list {
		r := resourcearg.PodRowOf(&list[i], now)
		if u.GetNamespace() == "" {
			r.Name = list[i].Namespace + "/" + r.Name
		}
		rows = append(rows, []string{r.Name, r.Ready, r.Status, r.Restarts, r.Revision, r.Age, r.Node})
	}
	return rows
}

// page is a description as it grows.
type page struct {
	text    strings.Builder
	columns int
}

// row writes a title and its value, the titles of all pages in a column of
// one width.
func (p *page) row(title, format string, args ...any) {
	fmt.Fprintf(&p.text, "%-*s%s\n", titleWidth, title+":", safe.Line(fmt.Sprintf(format, args...)))
}

// titleWidth is that of the column of titles, as in the older plugin
// (docs/facts/older-plugin.md#describe-get-completion).
const titleWidth = 19

// set writes keys with their values, one a line.
func (p *page) set(title string, values map[string]string, without ...string) {
	var lines []string
	for k, v := range values {
		if !slices.Contains(without, k) {
			lines = append(lines, k+"="+strings.Join(strings.Fields(v), " "))
		}
	}
	slices.Sort(lines)
	if len(lines) == 0 {
		lines = []string{"<none>"}
	}
	p.row(title, "%s", lines[0])
	for _, l := range lines[1:] {
		fmt.Fprintf(&p.text, "%*s%s\n", titleWidth, "", safe.Line(l))
	}
}

// tree writes a part of an object as it is written in a manifest.
func (p *page) tree(title string, v map[string]any) {
	if len(v) == 0 {
		return
	}
	// What was read from JSON can be written.
	out, _ := yaml.Marshal(v)
	fmt.Fprintf(&p.text, "%s:\n", title)
	for line := range strings.Lines(string(out)) {
		line = "  " + line
		if p.columns > 0 {
			line = safe.Whole(line)
		}
		p.text.WriteString(line)
	}
}

// table writes rows below a title, the first of them with the names of the columns; a
// table without others says that there is nothing.
func (p *page) table(title string, rows [][]string) {
	if len(rows) < 2 {
		p.row(title, "<none>")
		return
	}
	fmt.Fprintf(&p.text, "%s:\n", title)
	for line := range strings.Lines(alignColumns(rows)) {
		p.text.WriteString("  " + line)
	}
}

// fit cuts cells so that the columns of a table fit the terminal.
func (p *page) fit(rows [][]string) [][]string {
	if p.columns <= 0 {
		return rows
	}
	return view.Fit(rows, p.columns-len("  "), len("  "), "Name")
}

// alignColumns writes rows with their columns one below the other.
func alignColumns(rows [][]string) string {
	var out bytes.Buffer
	t := tabwriter.NewWriter(&out, 0, 0, 2, ' ', 0)
	for _, r := range rows {
		cells := make([]string, len(r))
		for i, cell := range r {
			cells[i] = safe.Line(cell)
		}
		_, _ = fmt.Fprintln(t, strings.Join(cells, "\t")) // a buffer takes everything
	}
	_ = t.Flush()
	return out.String()
}

// nativePart is what kubectl's own part of a description writes, in columns.
func nativePart(part func(w describe.PrefixWriter)) string {
	var out strings.Builder
	t := tabwriter.NewWriter(&out, 0, 8, 2, ' ', 0)
	part(describe.NewPrefixWriter(t))
	// A builder takes everything.
	_ = t.Flush()
	return out.String()
}
