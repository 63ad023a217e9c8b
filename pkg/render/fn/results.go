package fn

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/emit"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/finding"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/load"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/stage"
)

const (
	group          = "config.kubernetes.io"
	functionConfig = "functionConfig"
)

// versions of the ResourceList that can be read; each is echoed.
var versions = []string{"v1", "v1beta1", "v1alpha1"}

// resourceList is the input, whose tree becomes the output.
type resourceList struct {
	doc, root *tree.Node
	functions *tree.Node
}

func parse(text []byte) (*resourceList, error) {
	doc, err := load.Single(input, text)
	if err != nil {
		return nil, err
	}
	l := &resourceList{doc: doc, root: tree.Root(doc)}
	if err := l.check(); err != nil {
		return nil, resource.Parsed(l.root, nil, resource.Origin{File: input}).Wrap(err, "")
	}
	l.functions = tree.Get(l.root, functionConfig)
	forgetLines(l.root)
	return l, nil
}

// check refuses what is not a ResourceList. Without items and functionConfig it
// is not one for kustomize either (docs/facts/kustomize.md#wire-format).
func (l *resourceList) check() error {
	version := tree.StrAt(l.root, "apiVersion")
	items := tree.Get(l.root, "items")
	switch {
	case !tree.IsMap(l.root) || tree.StrAt(l.root, "kind") != input || resource.GroupOf(version) != group:
		return tree.Errorf(l.root, "", "kustomize and kpt call this; 'kubectl kruise render' is for files", "the input is not a ResourceList of %s", group)
	case !slices.Contains(versions, version[len(group)+1:]):
		return tree.Errorf(l.root, "apiVersion", "this version reads "+group+"/v1 and /v1beta1", "unknown version %q", version)
	case items == nil && !tree.Has(l.root, "items") && tree.Get(l.root, functionConfig) == nil:
		return tree.Errorf(l.root, "items", "write items: [] for an empty list", "is missing")
	case items != nil && !tree.IsSeq(items):
		return tree.Errorf(l.root, "items", "", "is no list")
	}
	for i, item := range tree.Items(items) {
		if !tree.IsMap(item) {
			return tree.Errorf(l.root, fmt.Sprintf("items[%d]", i), "", "is no object")
		}
	}
	return l.checkResults()
}

func (l *resourceList) checkResults() error {
	results := tree.Get(l.root, "results")
	if results == nil || tree.IsSeq(results) {
		return nil
	}
	return tree.Errorf(l.root, "results", "", "is no list")
}

// items returns the objects; the slice is the caller's.
func (l *resourceList) items() []*tree.Node {
	return slices.Clone(tree.Items(tree.Get(l.root, "items")))
}

// forgetLines removes line numbers, which are those of the ResourceList: no
// file has them.
func forgetLines(n *tree.Node) {
	if n.Line != 0 { // documents share the keys that have none
		n.Line = 0
	}
	for _, child := range n.Content {
		forgetLines(child)
	}
}

// write puts the outcome into the list and writes it. Whatever else is in the
// list, such as functionConfig, is echoed.
func (l *resourceList) write(w io.Writer, o *outcome) error {
	items := tree.Seq(o.items...)
	if old := tree.Get(l.root, "items"); old != nil {
		items.HeadComment, items.LineComment, items.FootComment = old.HeadComment, old.LineComment, old.FootComment
	}
	if len(o.items) == 0 {
		items.Style = yaml.FlowStyle
	}
	tree.Set(l.root, "items", items)
	if results := l.results(o.results); len(results) > 0 {
		tree.Set(l.root, "results", tree.Seq(results...))
	}
	l.root.Style &^= yaml.FlowStyle
	text, err := emit.Tree(l.doc, stage.Limits{})
	if err != nil {
		return fmt.Errorf("the result cannot be written as YAML: %w", err)
	}
	_, err = w.Write(text)
	return err
}

// results returns those that came in, then new ones that are not among them.
func (l *resourceList) results(more []*tree.Node) []*tree.Node {
	all := slices.Clone(tree.Items(tree.Get(l.root, "results")))
	seen := make(map[string]bool, len(all)+len(more))
	for _, r := range all {
		seen[resultKey(r)] = true
	}
	for _, r := range more {
		if m := resultKey(r); !seen[m] {
			seen[m] = true
			all = append(all, r)
		}
	}
	return all
}

// resultKey is the same text for two equal results.
func resultKey(r *tree.Node) string {
	b, err := json.Marshal(tree.Value(r))
	if err != nil { // tree.Value returns nothing that cannot be marshalled
		panic("fn: " + err.Error())
	}
	return string(b)
}

// outcome is what a run writes.
type outcome struct {
	items   []*tree.Node
	results []*tree.Node
	// lines are the findings as text, one each.
	lines []string
	worst finding.Severity
	// echo: the items are those of the input.
	echo   bool
	places map[resource.ID]place
}

// place is where the object of a result is.
type place struct {
	apiVersion, file, index string
}

// recordPlaces keeps the places of all objects.
func (o *outcome) recordPlaces(s *stream) {
	for _, m := range s.all {
		index := tree.StrAt(m.annotations, index)
		if index == "" {
			index = tree.StrAt(m.annotations, legacyIndex)
		}
		o.places[m.id] = place{m.r.APIVersion(), file(m.r.Node()), index}
	}
}

// severities of results. Exact findings are left out.
var severities = map[finding.Severity]string{finding.Approximate: "info", finding.Lost: "warning", finding.Error: "error"}

// report turns what the engine found into results and lines.
func (o *outcome) report(res *render.Result, strict bool) {
	o.worst = finding.Worst(res.Findings)
	for _, f := range res.Findings {
		severity, shown := severities[f.Severity]
		if !shown {
			continue
		}
		if strict && f.Severity == finding.Lost && !f.Accepted {
			severity = "error"
		}
		o.writeLine(severity, f.Object, f.Field, f.Message+" ["+f.ID+"]")
		o.results = append(o.results, o.result(severity, sentence(f.Message, f.Action), f.Object, f.Field, "id", f.ID))
	}
	for _, x := range res.Explanations {
		o.explain(x)
	}
}

func (o *outcome) explain(x stage.Explanation) {
	verb := "not injected"
	if x.Injected {
		verb = "injected"
	}
	message := fmt.Sprintf("SidecarSet %s is %s: %s", x.SidecarSet, verb, x.Reason)
	o.writeLine("info", x.Template, x.Path, message)
	o.results = append(o.results, o.result("info", message, x.Template, x.Path, "sidecarset", x.SidecarSet))
}

// warnOfNoMatch warns of a SidecarSet that was injected into nothing: a selector with a typing
// error would else look like a success.
func (o *outcome) warnOfNoMatch(set *resource.Resource, res *render.Result) {
	if slices.ContainsFunc(res.Explanations, func(x stage.Explanation) bool { return x.Injected && x.SidecarSet == set.Name() }) {
		return
	}
	const message = "the SidecarSet matches no pod template of the input"
	hint := "compare spec.selector and spec.namespaceSelector with the labels of the templates; the option explain lists the reason for each"
	if len(res.Explanations) == 0 {
		hint = "the input has no pod template that it could be injected into"
	}
	o.writeLine("warning", set.ID(), "", message)
	o.results = append(o.results, o.result("warning", sentence(message, hint), set.ID(), "", "sidecarset", set.Name()))
}

// warn reports fields of the function config without effect.
func (o *outcome) warn(l *resourceList, list []error) {
	for _, err := range list {
		if e, ok := errors.AsType[*resource.Error](l.misconfigured(err)); ok {
			o.writeLine("warning", e.Object, e.Field, e.Err.Error())
			o.results = append(o.results, o.result("warning", sentence(e.Err.Error(), e.Hint), e.Object, e.Field, "", ""))
		}
	}
}

// add makes results of the faults in err. Their lines are the caller's.
func (o *outcome) add(err error) {
	var all resource.Errors
	all.Add(err)
	for _, fault := range all {
		e, ok := errors.AsType[*resource.Error](fault)
		if !ok {
			e = &resource.Error{Err: fault}
		}
		message := sentence(e.Err.Error(), e.Hint)
		if e.Object.Kind == "" && e.File != "" {
			message = e.File + ": " + message
		}
		o.results = append(o.results, o.result("error", message, e.Object, e.Field, "", ""))
	}
}

// sentence adds what to do to what is wrong: only messages reach every reader.
func sentence(message, do string) string {
	if do == "" {
		return message
	}
	return message + " (" + do + ")"
}

// result is one entry of results. An object that the input does not hold has
// no complete reference, so its name goes into the message.
func (o *outcome) result(severity, message string, id resource.ID, field, tag, value string) *tree.Node {
	at, known := o.places[id]
	if !known && id.Kind != "" {
		message = strings.TrimSuffix(id.String()+": "+field, ": ") + ": " + message
	}
	r := tree.Map("message", message, "severity", severity)
	if known && at.apiVersion != "" && id.Name != "" {
		ref := tree.Map("apiVersion", at.apiVersion, "kind", id.Kind, "name", id.Name)
		if id.Namespace != "" {
			tree.Set(ref, "namespace", tree.String(id.Namespace))
		}
		tree.Set(r, "resourceRef", ref)
		if field != "" {
			tree.Set(r, "field", tree.Map("path", field))
		}
	}
	if at.file != "" {
		tree.Set(r, "file", at.node())
	}
	if tag != "" {
		tree.Set(r, "tags", tree.Map(tag, value))
	}
	return r
}

func (p place) node() *tree.Node {
	n := tree.Map("path", p.file)
	if i, ok := tree.Int(&tree.Node{Kind: tree.Int64(0).Kind, Value: p.index}); ok {
		tree.Set(n, "index", tree.Int64(i))
	}
	return n
}

func (o *outcome) writeLine(severity string, id resource.ID, field, message string) {
	parts := []string{severity}
	if id.Kind != "" {
		parts = append(parts, id.String())
	}
	if field != "" {
		parts = append(parts, field)
	}
	o.lines = append(o.lines, strings.Join(append(parts, message), ": "))
}

// writeFindings writes the findings to w; that it cannot is no reason to fail.
func (o *outcome) writeFindings(w io.Writer) {
	for _, line := range o.lines {
		if _, err := fmt.Fprintln(w, line); err != nil {
			return
		}
	}
}
