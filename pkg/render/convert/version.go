// Package convert writes objects in another form: those of Kruise in another
// version of their API, and workloads and budgets as the kind that does the same
// with Kruise, or without. What has no place there is named, never dropped in
// silence.
package convert

import (
	"slices"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/finding"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/references"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// Loss is a field that has no place in what is written.
type Loss struct {
	// Object, File and Line are where the field is.
	Object resource.ID
	File   string
	Line   int
	kruise.Loss
}

// Finding is the loss as a finding.
func (l Loss) Finding() finding.Finding {
	rule := finding.Lookup("convert/version")
	return finding.Finding{ID: rule.ID, Severity: rule.Severity, Object: l.Object, File: l.File, Line: l.Line, Field: l.Path, Message: l.Why, Action: rule.Action}
}

// Writing defines in which version, and for which release of Kruise, objects are written.
type Writing struct {
	// Version is that of all objects of Kruise; "" leaves those that were not made as they
	// are, and writes the others in the newest version that the release serves.
	Version string
	// Release takes the objects; of one that is not known, it is the newest, or Kruise's
	// main branch for a version that only that one has.
	Release kruise.Release
	// Given are objects that a person wrote: what the release lacks of them is an error. Of
	// all others, which the program made, it is left out, and is a loss.
	Given []*resource.Resource
}

// Written are the results of [ForRelease].
type Written struct {
	// Lost are the fields that have no place in what is written.
	Lost []Loss
	// Skipped are the objects of kinds that do not have the version.
	Skipped []*resource.Resource
	// Unserved are objects in a version that no release serves.
	Unserved []*resource.Resource
}

// ForRelease converts the objects of Kruise to a version, for a release, in place, and updates
// references, such as the target of an autoscaler. All other objects keep their bytes. An error
// has what the release lacks.
func ForRelease(list []*resource.Resource, w Writing) (Written, error) {
	var out Written
	var errs resource.Errors
	changed := map[*resource.Resource]string{}
	for _, r := range list {
		if r.Group() != kruise.Group && r.Group() != kruise.PolicyGroup {
			continue
		}
		before := r.APIVersion()
		errs.Add(w.convertObject(r, &out))
		if r.APIVersion() != before {
			changed[r] = before
		}
	}
	references.FollowVersions(changed, list, (*resource.Resource).Namespace)
	return out, errs.Err()
}

// convertObject writes one object.
func (w Writing) convertObject(r *resource.Resource, out *Written) error {
	made := !slices.Contains(w.Given, r)
	version := w.Version
	if version == "" && made {
		version = w.newestVersion(r)
	}
	switch {
	case version == "":
		return nil
	case !kruise.Serves(r.Group(), r.Kind(), version):
		out.Skipped = append(out.Skipped, r)
		return nil
	}
	release, err := w.servingRelease(r, version)
	if err != nil {
		return err
	}
	if release == kruise.Next && w.Release.IsZero() {
		out.Unserved = append(out.Unserved, r)
	}
	if r.Version() != version {
		if err := w.convert(r, version, release, out); err != nil {
			return err
		}
	} else if !made {
		return nil
	}
	return w.removeUnserved(r, release, made, out)
}

// newestVersion is the version in which the release takes the kind; "" where it does not.
func (w Writing) newestVersion(r *resource.Resource) string {
	versions := w.Release.OrNewest().Versions(r.Group(), r.Kind())
	if len(versions) == 0 || slices.Contains(versions, r.Version()) {
		return r.Version()
	}
	return versions[len(versions)-1]
}

// servingRelease is the release that takes the kind in the version, or an error.
func (w Writing) servingRelease(r *resource.Resource, version string) (kruise.Release, error) {
	release := w.Release.OrNewest()
	if release.Serves(r.Group(), r.Kind(), version) {
		return release, nil
	}
	in, _ := kruise.ServedIn(r.Group(), r.Kind(), version)
	if w.Release.IsZero() {
		return in.First, nil
	}
	return release, r.Fault("apiVersion", "give another --to-version, or another --kruise-version", "%s does not serve %s as %s: it is there %s", release.Name(), r.Kind(), version, in.Words())
}

func (w Writing) convert(r *resource.Resource, version string, release kruise.Release, out *Written) error {
	n, losses, err := release.Convert(r.Node(), version)
	if err != nil {
		return r.Wrap(err, "")
	}
	for _, l := range losses {
		out.addLoss(r, l)
	}
	*r.Edit() = *n
	return nil
}

// removeUnserved leaves out of what was made what the release lacks, and refuses it elsewhere.
func (w Writing) removeUnserved(r *resource.Resource, release kruise.Release, made bool, out *Written) error {
	var errs resource.Errors
	n, absent := release.Without(r.Node())
	for _, a := range absent {
		if made {
			out.addLoss(r, kruise.Loss{Path: a.Path, Why: a.Words() + "; this is for " + release.Name()})
			continue
		}
		errs.Add(r.Fault(a.Path, "remove it, or give another --kruise-version", "%s: it would be lost in objects for %s", a.Words(), release.Name()))
	}
	if made && len(absent) > 0 {
		*r.Edit() = *n
	}
	return errs.Err()
}

func (out *Written) addLoss(r *resource.Resource, l kruise.Loss) {
	out.Lost = append(out.Lost, lossOf(r, l))
}

func lossOf(r *resource.Resource, l kruise.Loss) Loss {
	file, line := r.Origin.At(tree.LineOf(r.Node(), l.Path))
	return Loss{Object: r.ID(), File: file, Line: line, Loss: l}
}
