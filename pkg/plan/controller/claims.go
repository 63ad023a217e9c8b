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
	// mark is how far the record of changes was read.
	mark cluster.Mark[ClaimChange]
	// existing is how many claims there are per template for the ordinals that should exist,
	// without those that are being deleted.
	existing []int32
	// foreign counts the claims whose owner is not the one that most have, leaving those that are
	// being deleted or belong to a pod.
	foreign, leaving int
}

// ClaimChange is a claim that took the place of another, nil where one came or went.
type ClaimChange struct{ Before, After *cluster.Claim }

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

// renew brings the survey up to the claims of this pass. Where the record of changes does not say
// what changed since the last one, it counts all.
func (s *ClaimSurvey) renew(claims []*cluster.Claim, record *cluster.Changes[ClaimChange], q claimQuestion) {
	changes, known := s.mark.Since(record)
	if !known || !s.question.equal(&q) {
		*s = ClaimSurvey{question: q, mark: s.mark, existing: make([]int32, len(q.templates))}
		for _, c := range claims {
			s.count(c, 1)
		}
		return
	}
	for _, change := range changes {
		s.count(change.Before, -1)
		s.count(change.After, 1)
	}
}

// count counts a claim in, or out when by is -1; nil is none.
func (s *ClaimSurvey) count(c *cluster.Claim, by int) {
	if c == nil {
		return
	}
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
	s.claims.renew(s.view.Claims, s.view.ClaimChanges, claimQuestion{workload: s.view.Workload.Name, templates: names, ordinals: s.ordinals, owner: s.usualOwner()})
}

// usualOwner is the owner of the claims whose ordinal should exist.
func (s *stateful) usualOwner() cluster.Owner {
	if s.whenDeleted {
		return s.self()
	}
	return cluster.Owner{}
}
