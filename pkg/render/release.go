package render

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/finding"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/stage"
)

// read returns the objects as the release of Kruise reads them: those that are expanded,
// and those that exist. What stays Kruise's stays as it was written.
func (o Options) read(list []*resource.Resource, expand func(string) bool, say func(id string, r *resource.Resource, field, detail string)) []*resource.Resource {
	out := slices.Clone(list)
	for i, r := range list {
		if !expand(r.Kind()) {
			continue
		}
		reading := o.Kruise.Read(r.Node())
		if reading.Object == r.Node() {
			continue
		}
		for _, d := range reading.Dropped {
			say("sidecarset/dropped-by-release", r, d.Path, fmt.Sprintf("%s, and %s drops it silently; so does the renderer", d.Words(), o.Kruise.OrNewest().Name()))
		}
		if reading.ByFields && o.Kruise.IsZero() {
			say("uniteddeployment/form-by-release", r, "spec.template.cloneSetTemplate.spec", "")
		}
		out[i] = resource.Derived(reading.Object, r)
	}
	return out
}

// silent drops findings: none is reported about objects that exist.
func silent(string, *resource.Resource, string, string) {}

// writes is the release that what is made must be taken by. Where none is known, and the
// input is in versions that no release serves, it is Kruise's main branch.
func (o Options) writes(in []*resource.Resource) kruise.Release {
	if !o.Kruise.IsZero() {
		return o.Kruise
	}
	for _, r := range in {
		if s, ours := kruise.ServedIn(r.Group(), r.Kind(), r.Version()); ours && s.First == kruise.Next {
			return kruise.Next
		}
	}
	return kruise.NewestRelease
}

// fit writes the objects of Kruise that were made in a version that the release serves;
// those of the input keep the version that a person chose. What is yet to be expanded waits.
func fit(c *stage.Context, in, out []*resource.Resource, release kruise.Release) error {
	given := map[string]bool{}
	for _, r := range in {
		given[r.APIVersion()+" "+r.ID().String()] = true
	}
	var faults resource.Errors
	for i, r := range out {
		if given[r.APIVersion()+" "+r.ID().String()] || c.Expand(r.Kind()) {
			continue
		}
		made, err := fitOne(r, release, c.Findings)
		faults.Add(err)
		out[i] = made
	}
	return faults.Err()
}

// fitOne is one object in a version that the release serves.
func fitOne(r *resource.Resource, release kruise.Release, findings *finding.Reporter) (*resource.Resource, error) {
	versions := release.Versions(r.Group(), r.Kind())
	if _, ours := kruise.Lookup(r.Group(), r.Kind()); !ours || len(versions) == 0 || slices.Contains(versions, r.Version()) {
		return r, nil
	}
	older, lost, err := kruise.FromHub(r.Node(), versions[len(versions)-1])
	if err != nil {
		return r, r.Wrap(err, "")
	}
	for _, l := range lost {
		findings.Add("object/lost-in-version", r, l.Path, fmt.Sprintf("%s has only %s of a %s: %s", release.Name(), versions[len(versions)-1], r.Kind(), l.Why))
	}
	return resource.Derived(tree.Clone(older), r), nil
}

// auto reports for each kind whether it stays Kruise's: if the cluster serves it, in any version.
func (o Options) auto() func(kind string) bool {
	served := map[string]bool{}
	for _, k := range kruise.Kinds() {
		for _, v := range k.Versions {
			served[k.Kind] = served[k.Kind] || o.servesVersion(k, v)
		}
	}
	hasKruise := slices.ContainsFunc(o.APIVersions, func(v string) bool { return strings.HasPrefix(v, kruise.Group+"/") })
	return func(kind string) bool {
		if _, ours := served[kind]; ours {
			return served[kind]
		}
		return hasKruise // what Kruise does to pods without a kind of its own
	}
}

// servesVersion reports whether the cluster serves a kind in a version: the kind is listed, or the
// cluster serves the group in this version and the release, if known, has the kind in it.
func (o Options) servesVersion(k kruise.Registered, version string) bool {
	group := k.Group + "/" + version
	if slices.Contains(o.APIVersions, group+"/"+k.Kind) {
		return true
	}
	named := slices.ContainsFunc(o.APIVersions, func(v string) bool { return strings.HasPrefix(v, group+"/") })
	if named || !slices.Contains(o.APIVersions, group) {
		return false
	}
	return o.Kruise.IsZero() || o.Kruise.Serves(k.Group, k.Kind, version)
}

// asServed returns the objects that stay Kruise's in a version that the cluster serves,
// for target auto, which asks it.
func (o Options) asServed(in []*resource.Resource, expand func(string) bool, findings *finding.Reporter) ([]*resource.Resource, error) {
	if o.Target != Auto || len(o.APIVersions) == 0 {
		return in, nil
	}
	out := slices.Clone(in)
	var faults resource.Errors
	for i, r := range in {
		k, ours := kruise.Lookup(r.Group(), r.Kind())
		if !ours || expand(r.Kind()) || o.servesVersion(k, r.Version()) {
			continue
		}
		for _, v := range slices.Backward(k.Versions) {
			if !o.servesVersion(k, v) {
				continue
			}
			n, lost, err := kruise.FromHub(r.Node(), v)
			faults.Add(r.Wrap(err, ""))
			for _, l := range lost {
				findings.Add("object/lost-in-version", r, l.Path, fmt.Sprintf("the cluster serves %[1]s only as %[2]s: %[3]s", r.Kind(), v, l.Why))
			}
			if err == nil {
				out[i] = resource.Derived(tree.Clone(n), r)
			}
			break
		}
	}
	return out, faults.Err()
}
