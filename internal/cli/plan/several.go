package plan

import (
	"context"
	"errors"
	"fmt"
	"io"

	"sigs.k8s.io/yaml"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/command"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/planning"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/resourcearg"
	"github.com/kubectl-kruise/kubectl-kruise/internal/view"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/planfile"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/emit"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// planned is the plan of one of several workloads.
type planned struct {
	planning.One
	made *planning.Made
}

// runSeveral plans every workload, and writes the plans of those that change. A plan
// that is refused keeps no other from being written.
func (o *options) runSeveral(ctx context.Context, many []planning.One) error {
	var list []planned
	var errs resource.Errors
	for _, one := range many {
		m, err := one.Make(ctx)
		_, absent := errors.AsType[*resourcearg.AbsentError](err)
		_, wrong := errors.AsType[*command.UsageError](err)
		switch {
		case wrong: // it would be the same for the others
			return err
		case absent:
			o.say("%s: not there yet: it is made, and there is nothing to roll out", one.Name)
		case err != nil:
			errs.Add(whose(err, one.Manifest))
		case len(m.Plan.Steps) == 0:
			o.say("%s: %s", one.Name, m.Plan.Change.Why)
		default:
			list = append(list, planned{one, m})
		}
	}
	if err := o.writeSeveral(ctx, list); err != nil {
		errs.Add(err)
	}
	return errs.Err()
}

// whose adds to an error without a place whose plan it is about.
func whose(err error, manifest *resource.Resource) error {
	known, ok := err.(*resource.Error) //nolint:errorlint // one that is wrapped has a place already
	if !ok || known.File != "" || known.Object.Kind != "" {
		return err
	}
	out := *known
	out.File, out.Line, out.Object = manifest.Origin.File, manifest.Origin.Line, manifest.ID()
	return &out
}

func (o *options) writeSeveral(ctx context.Context, list []planned) error {
	if o.output == "svg" && len(list) > 1 {
		return command.Usagef("name one: "+list[0].Name.String()+", for instance", "-o svg draws one plan, and these are %d", len(list))
	}
	if err := o.keepSeveral(list); err != nil {
		return err
	}
	digests := make([]string, len(list))
	for i, p := range list {
		var err error
		if digests[i], err = o.digest(ctx, p.made); err != nil {
			return err
		}
	}
	if err := o.print(func(w io.Writer) error { return o.printSeveral(w, list, digests) }); err != nil {
		return err
	}
	for i, p := range list {
		if digests[i] != "" {
			o.say("digest of %s: %s", p.Name, digests[i])
		}
	}
	return nil
}

// keepSeveral writes each plan into a file of the folder of --out. Files that an
// earlier run left there go, unless they were edited.
func (o *options) keepSeveral(list []planned) error {
	if o.out == "" {
		return nil
	}
	objects := make([]*resource.Resource, len(list))
	for i, p := range list {
		objects[i] = p.Manifest
	}
	docs := make([]emit.Document, len(list))
	for i, name := range emit.Names(objects) {
		docs[i] = emit.Document{Name: name + ".yaml", Body: planfile.Write(list[i].made.Plan)}
	}
	if err := emit.Folders(o.out, docs, func(path string) { o.say("kept %s: it was edited", path) }); err != nil {
		return &resource.Error{Err: err, Hint: "of several workloads, --out names a folder"}
	}
	for _, d := range docs {
		o.say("wrote %s/%s", o.out, d.Name)
	}
	return nil
}

// printSeveral writes a List, a page, or one plan after the other with what separates them.
func (o *options) printSeveral(w io.Writer, list []planned, digests []string) error {
	switch o.output {
	case "json":
		return writeList(w, list)
	case "html":
		var all []reported
		for i, p := range list {
			all = append(all, reported{p.made, digests[i]})
		}
		return o.writeHTML(w, all)
	}
	between := map[string]string{"yaml": "---\n", "text": "\n\n", "markdown": "\n"}[o.output]
	for i, p := range list {
		if i > 0 {
			if _, err := io.WriteString(w, between); err != nil {
				return err
			}
		}
		if err := o.write(w, p.made, digests[i]); err != nil {
			return err
		}
	}
	return nil
}

// writeList writes the plans as a List in JSON.
func writeList(w io.Writer, list []planned) error {
	items := make([]any, len(list))
	for i, p := range list {
		if err := yaml.Unmarshal(planfile.Write(p.made.Plan), &items[i]); err != nil {
			return fmt.Errorf("the plan of %s cannot be read back: %w", p.Name, err)
		}
	}
	return view.JSON(w, map[string]any{"apiVersion": "v1", "kind": "List", "items": items})
}
