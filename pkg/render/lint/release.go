package lint

import "github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"

// Rules about releases of Kruise; those about what a release refuses or drops are check's.
var _ = advise(advice{
	Rule:  Rule{ID: "uniteddeployment/form-by-release", Kind: kruise.KindUnitedDeployment, Severity: Info, Doc: "A cloneSetTemplate has the form of CloneSet v1alpha1, which every release of Kruise up to 1.9 reads; what comes after reads that of v1beta1 alone."},
	kinds: []string{united}, look: formByRelease,
})

func formByRelease(s *subject) {
	if s.c.Kruise.IsZero() && s.c.Kruise.Read(s.r.Node()).ByFields {
		s.at("spec.template.cloneSetTemplate.spec", "--kruise-version says which release there is",
			"read in the form of CloneSet v1alpha1, as releases up to %s do; what comes after refuses it", kruise.NewestRelease)
	}
}
