package compare

import (
	"slices"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// compare fills in what differs between two states of an object and what follows;
// false is nothing.
func (c *comparison) compare(ch *Change, p pair) bool {
	old, now := c.forms(p)
	unknown(ch, old, now)
	list := diff(kindOf(p.now), old.value, now.value)
	if len(list) == 0 {
		return false
	}
	template, asked := "spec.template.", []rules.FieldChange(nil)
	switch {
	case p.now.Is(kruise.Group, kruise.KindSidecarSet):
		template, asked = "", sidecarFields(p)
	case cluster.IsWorkload(p.now.Group(), p.now.Kind()):
		asked = c.workload(ch, p)
	case p.now.Is(kruise.Group, kruise.KindUnitedDeployment):
		c.subsets(ch, p.old, p.now)
	}
	ch.Fields = fields(list, old.value, now.value, template, asked)
	ch.Rollout.because(ch.Fields)
	frozen(ch, p, list)
	followUps(ch, p.now, ch.Fields)
	return true
}

// unknown says which fields a cluster will drop that were not there before.
func unknown(ch *Change, old, now form) {
	for _, path := range now.unknown {
		if !slices.Contains(old.unknown, path) {
			ch.add(Warning, path, "the kind does not have this field: it is dropped, and nothing comes of it")
		}
	}
}

// followUps are what a change of some kinds means that no rule of rollouts knows.
func followUps(ch *Change, r *resource.Resource, list []Field) {
	for _, f := range consequences[kindOf(r)] {
		if i := slices.IndexFunc(list, func(have Field) bool { return under(have.Path, f.path) }); i >= 0 {
			ch.add(f.level, list[i].Path, f.text)
		}
	}
}

// consequence is what the change of a field means.
type consequence struct {
	path  string
	level Level
	text  string
}

var consequences = map[string][]consequence{
	"/Service": {
		{"spec.selector", Warning, "traffic goes to the pods that this selects, from one moment to the next"},
		{"spec.type", Warning, "addresses and ports from outside come or go with the type"},
	},
	"/Namespace":                         {{"metadata.labels", Note, "what selects namespaces by their labels selects others now"}},
	"batch/CronJob":                      {{"spec.jobTemplate", Note, "it applies to jobs created from now on; running jobs are unchanged"}},
	kruise.Group + "/CloneSet":           {{"spec.volumeClaimTemplates", Note, "claims that are there stay as they are; only new ones are made like this"}},
	kruise.Group + "/StatefulSet":        {{"spec.volumeClaimTemplates", Note, "claims that are there stay as they are; only new ones are made like this"}},
	kruise.Group + "/AdvancedCronJob":    {{"spec.template", Note, "it applies to jobs created from now on; running jobs are unchanged"}},
	kruise.Group + "/BroadcastJob":       {{"spec.template", Note, "pods from now on get it; those that run or are done stay as they are"}},
	kruise.Group + "/PersistentPodState": {{"spec", Note, "it applies to pods created from now on"}},
	kruise.Group + "/WorkloadSpread":     {{"spec", Note, "it applies to pods created from now on; running pods stay where they are"}},
}
