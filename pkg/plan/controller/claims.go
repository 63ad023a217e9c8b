package controller

import (
	"slices"
	"strconv"
	"strings"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// ClaimSurvey is what the controller of a StatefulSet remembers of the claims of its last pass: it
// reads only those that came, changed or went since. The zero value remembers nothing.
type ClaimSurvey struct {
	question claimQuestion
	// claims are the list of the last pass, which never changes.
	claims []*cluster.Claim
	// existing is how many claims there are per template for the ordinals that should exist,
	// without those that are being deleted.
	existing []int32
	// foreign counts the claims whose owner is not the one that most have, leaving those that are
	// being deleted or belong to a pod.
	foreign, leaving int
}

// claimQuestion is what a survey depends on besides the claims.
type claimQuestion struct {
	workload  string
	templates []string
	// ordinals are never changed in place: a survey of pods makes them again.
	ordinals []int
	owner    cluster.Owner
}

func (q *claimQuestion) equal(other *claimQuestion) bool {
	return q.workload == other.workload && q.owner == other.owner && slices.Equal(q.templates, other.templates) && sameList(q.ordinals, other.ordinals)
}

// sameList compares lists that are mostly one and the same.
func sameList(a, b []int) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0] || slices.Equal(a, b))
}

// renew brings the survey up to the claims of this pass. A claim that changes is a new one in the
// same place, and one that comes or goes moves those after it.
func (s *ClaimSurvey) renew(claims []*cluster.Claim, q claimQuestion) {
	if !s.question.equal(&q) {
		*s = ClaimSurvey{question: q, existing: make([]int32, len(q.templates))}
	}
	if len(claims) > 0 && len(claims) == len(s.claims) && &claims[0] == &s.claims[0] {
		return
	}
	before, after := 0, 0
	for before < min(len(s.claims), len(claims)) && s.claims[before] == claims[before] {
		before++
	}
	for after < min(len(s.claims), len(claims))-before && s.claims[len(s.claims)-1-after] == claims[len(claims)-1-after] {
		after++
	}
	gone, come := s.claims[before:len(s.claims)-after], claims[before:len(claims)-after]
	for _, c := range gone {
		s.count(c, -1)
	}
	for _, c := range come {
		s.count(c, 1)
	}
	s.claims = claims
}

func (s *ClaimSurvey) count(c *cluster.Claim, by int) {
	if c.Owner != s.question.owner {
		s.foreign += by
	}
	if c.Deleting || c.Owner.Kind == "Pod" {
		s.leaving += by
	}
	if c.Deleting {
		return
	}
	for i, template := range s.question.templates {
		text, ok := strings.CutPrefix(c.Name, template+"-"+s.question.workload+"-")
		if !ok {
			continue
		}
		ordinal, err := strconv.Atoi(text)
		if _, wanted := slices.BinarySearch(s.question.ordinals, ordinal); err == nil && wanted && strconv.Itoa(ordinal) == text {
			s.existing[i] += int32(by)
		}
	}
}

// surveyClaims renews what is remembered of the claims, for this pass at least.
func (s *stateful) surveyClaims() {
	if len(s.templates) == 0 {
		return
	}
	s.claims = s.view.ClaimSurvey
	if s.claims == nil {
		s.claims = &ClaimSurvey{}
	}
	names := make([]string, len(s.templates))
	for i := range s.templates {
		names[i] = s.templates[i].Name
	}
	s.claims.renew(s.view.Claims, claimQuestion{workload: s.view.Workload.Name, templates: names, ordinals: s.ordinals, owner: s.usualOwner()})
}

// usualOwner is the owner of the claims whose ordinal should exist.
func (s *stateful) usualOwner() cluster.Owner {
	if s.whenDeleted {
		return s.self()
	}
	return cluster.Owner{}
}
