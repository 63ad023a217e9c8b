package lint

// Rules about words that YAML's readers disagree on.
var _ = advise(advice{
	Rule:  Rule{ID: "object/ambiguous-yaml", Severity: Warning, Doc: "A plain yes, no, on, off, y or n is a boolean for kubectl and text for kustomize; a plain key such as yes, 0755 or 1.10 becomes another text for kubectl."},
	kinds: []string{anything}, look: ambiguous,
})

func ambiguous(s *subject) {
	for _, w := range s.r.Rereads() {
		if w.Key {
			s.at(w.Path, "put the key in quotes", "kubectl reads the key %s as %q", w.Was, w.Is)
			continue
		}
		s.at(w.Path, "put it in quotes, or write "+w.Is, "%s without quotes is %s for kubectl, and text for kustomize", w.Was, w.Is)
	}
}
