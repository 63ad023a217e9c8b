package controller

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// claimCounts is what the claims of a StatefulSet add up to.
type claimCounts struct {
	// existing is how many there are per template for the ordinals that should exist, without those
	// that are being deleted.
	existing []int32
	// foreign counts those whose owner is not the one that most have, leaving those that are being
	// deleted or belong to a pod.
	foreign, leaving int
}

// claimQuestion is what is asked of claims, and what the answer depends on besides them: templates are
// names behind each other, with commas between.
type claimQuestion struct {
	workload, templates string
	owner               cluster.Owner
}

// claimBlock is the answer about some claims; claims that stay are the numbers of their template and their ordinals.
type claimBlock struct {
	foreign, leaving int
	stay             [][2]int
}

func (q claimQuestion) ask(claims []*cluster.Claim) (n claimBlock, _ time.Time) {
	for _, c := range claims {
		if c.Owner != q.owner {
			n.foreign++
		}
		if c.Deleting || c.Owner.Kind == "Pod" {
			n.leaving++
		}
		if c.Deleting {
			continue
		}
		for i, template := range strings.Split(q.templates, ",") {
			text, ok := strings.CutPrefix(c.Name, template+"-"+q.workload+"-")
			if ordinal, err := strconv.Atoi(text); ok && err == nil && strconv.Itoa(ordinal) == text {
				n.stay = append(n.stay, [2]int{i, ordinal})
			}
		}
	}
	return n, time.Time{}
}

// countClaims counts the claims of a pass, if there are templates for any.
func (s *stateful) countClaims() {
	if len(s.templates) == 0 {
		return
	}
	names := make([]string, len(s.templates))
	for i := range s.templates {
		names[i] = s.templates[i].Name
	}
	s.claims = claimCounts{existing: make([]int32, len(names))}
	q := claimQuestion{workload: s.view.Workload.Name, templates: strings.Join(names, ","), owner: s.usualOwner()}
	for _, block := range cluster.Ask(s.view.Answers, q, time.Time{}, s.view.Claims, q.ask) {
		s.claims.foreign += block.foreign
		s.claims.leaving += block.leaving
		for _, at := range block.stay {
			if s.wants(at[1]) {
				s.claims.existing[at[0]]++
			}
		}
	}
}

// wants reports whether an ordinal should exist. Most are where they would be if none were left out.
func (s *stateful) wants(ordinal int) bool {
	if len(s.ordinals) == 0 {
		return false
	}
	if i := ordinal - s.ordinals[0]; i >= 0 && i < len(s.ordinals) && s.ordinals[i] == ordinal {
		return true
	}
	_, wanted := slices.BinarySearch(s.ordinals, ordinal)
	return wanted
}

// usualOwner is the owner of the claims whose ordinal should exist.
func (s *stateful) usualOwner() cluster.Owner {
	if s.whenDeleted {
		return s.self()
	}
	return cluster.Owner{}
}
