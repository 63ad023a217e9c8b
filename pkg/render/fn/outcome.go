package fn

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/finding"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/stage"
)

// outcome is what a run writes.
type outcome struct {
	items   []*tree.Node
	results []*tree.Node
	// lines are the findings for people, one each.
	lines []string
	worst finding.Severity
	// echo: the items are those of the input.
	echo   bool
	places map[resource.ID]place
}

// place is what a result says of an object beyond its ID.
type place struct {
	apiVersion, file, index string
}

// know keeps where all objects stand.
func (o *outcome) know(s *stream) {
	for _, m := range s.all {
		index := tree.StrAt(m.annotations, index)
		if index == "" {
			index = tree.StrAt(m.annotations, legacyIndex)
		}
		o.places[m.id] = place{m.r.APIVersion(), file(m.r.Node()), index}
	}
}

// knowConfig keeps where the function config stands.
func (o *outcome) knowConfig(l *resourceList) {
	if c := l.config(); tree.IsMap(c.Node()) {
		o.places[c.ID()] = place{apiVersion: c.APIVersion(), file: file(c.Node())}
	}
}

// severities of results. Exact findings are no news to anybody.
var severities = map[finding.Severity]string{finding.Approximate: "info", finding.Lost: "warning", finding.Error: "error"}

// report turns what the engine found into results and lines.
func (o *outcome) report(res *render.Result, strict bool) {
	o.worst = finding.Worst(res.Findings)
	for _, f := range res.Findings {
		severity, shown := severities[f.Severity]
		if !shown {
			continue
		}
		if strict && f.Severity == finding.Lost {
			severity = "error"
		}
		o.line(severity, f.Object, f.Field, f.Message+" ["+f.ID+"]")
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
	o.line("info", x.Template, x.Path, message)
	o.results = append(o.results, o.result("info", message, x.Template, x.Path, "sidecarset", x.SidecarSet))
}

// warn reports fields of the function config without effect.
func (o *outcome) warn(l *resourceList, list []error) {
	for _, err := range list {
		if e, ok := errors.AsType[*resource.Error](l.misconfigured(err)); ok {
			o.line("warning", e.Object, e.Field, e.Err.Error())
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

func (o *outcome) line(severity string, id resource.ID, field, message string) {
	parts := []string{severity}
	if id.Kind != "" {
		parts = append(parts, id.String())
	}
	if field != "" {
		parts = append(parts, field)
	}
	o.lines = append(o.lines, strings.Join(append(parts, message), ": "))
}

// say writes the findings to w; that it cannot is no reason to fail.
func (o *outcome) say(w io.Writer) {
	for _, line := range o.lines {
		if _, err := fmt.Fprintln(w, line); err != nil {
			return
		}
	}
}
