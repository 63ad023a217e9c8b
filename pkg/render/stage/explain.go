package stage

import (
	"sort"
	"sync"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// Explanation is what one SidecarSet did with one pod template, and why.
type Explanation struct {
	// Template is the workload that holds the pod template; Path leads to the
	// template inside it.
	Template resource.ID `json:"template"`
	Path     string      `json:"path,omitempty"`
	// SidecarSet is the name of the set.
	SidecarSet string `json:"sidecarSet"`
	// Injected reports whether its containers were put in.
	Injected bool `json:"injected"`
	// Reason is one line in plain words.
	Reason string `json:"reason"`
	seq    int
}

// Explain gathers explanations; a nil *Explain gathers nothing.
type Explain struct {
	mu   sync.Mutex
	list []Explanation
}

// Add keeps e, which speaks of a template in r.
func (x *Explain) Add(r *resource.Resource, e Explanation) {
	if x == nil {
		return
	}
	e.Template, e.seq = r.ID(), r.Origin.Seq
	x.mu.Lock()
	defer x.mu.Unlock()
	x.list = append(x.list, e)
}

// List returns the explanations in input order, then by path and set.
func (x *Explain) List() []Explanation {
	if x == nil {
		return nil
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	out := append([]Explanation(nil), x.list...)
	sort.SliceStable(out, func(i, j int) bool {
		a, b := out[i], out[j]
		switch {
		case a.seq != b.seq:
			return a.seq < b.seq
		case a.Template != b.Template:
			return a.Template.String() < b.Template.String()
		case a.Path != b.Path:
			return a.Path < b.Path
		default:
			return a.SidecarSet < b.SidecarSet
		}
	})
	return out
}
