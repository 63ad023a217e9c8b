package plan

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Sentence says why a rollout waits or has failed: the cause first, then the pods that it
// is about, without names of status fields. A gate that is about no pod has only its reason.
//
//	CrashLoopBackOff: container app in pod web-1; image web:2
func Sentence(gate, why string, pods ...string) string {
	why = inWords(why)
	if len(pods) == 0 {
		return why
	}
	reason, rest, ok := strings.Cut(why, ": ")
	if !ok || !slices.Contains([]string{GateCrash, GateImage}, gate) {
		return Names(pods) + ": " + why
	}
	in := " in pod "
	if len(pods) > 1 {
		in = " in pods "
	}
	container, image, ok := strings.Cut(rest, ", image ")
	text := reason + ": " + container + in + Names(pods)
	if ok {
		text += "; image " + image
	}
	return text
}

// Sentence is the blocker as [Sentence] says it.
func (b Blocker) Sentence() string {
	if b.Pod == "" {
		return Sentence(b.Gate, b.Why)
	}
	return Sentence(b.Gate, b.Why, b.Pod)
}

// ParseBlocker reads back what [Blocker.String] has written, such as the reason that a
// record holds; any other text is a blocker of [GateProgress].
func ParseBlocker(reason string) Blocker {
	head, why, _ := strings.Cut(reason, ": ")
	gate, pod, _ := strings.Cut(head, " ")
	if !slices.Contains(gates, gate) || why == "" || strings.Contains(pod, " ") {
		return Blocker{Gate: GateProgress, Why: reason}
	}
	return Blocker{Gate: gate, Pod: pod, Why: why}
}

// mostNames is how many names a sentence has.
const mostNames = 3

// Names lists the first few names.
func Names(list []string) string {
	if len(list) > mostNames+1 {
		return fmt.Sprintf("%s and %d more", strings.Join(list[:mostNames], ", "), len(list)-mostNames)
	}
	return strings.Join(list, ", ")
}

// plainWords are conditions of a status in words, without the names of its fields. The fields
// themselves are those of rules/*_done.go.
var plainWords = []struct {
	field *regexp.Regexp
	words string
}{
	{regexp.MustCompile(`\bupdatedAvailableReplicas is (\d+) of (\d+)`), "$1 of $2 updated pods are available"},
	{regexp.MustCompile(`\bupdatedReadyReplicas is (\d+) of (\d+)`), "$1 of $2 updated pods are ready"},
	{regexp.MustCompile(`\bexpectedUpdatedReplicas is (\d+) of (\d+)`), "Kruise still aims for $1 updated pods; this step wants $2"},
	{regexp.MustCompile(`\bupdatedReplicas is (\d+) of (\d+)`), "$1 of $2 pods are updated"},
	{regexp.MustCompile(`\bupdatedReadyPods is (\d+) of (\d+)`), "$1 of $2 updated pods are ready"},
	{regexp.MustCompile(`\bupdatedPods is (\d+) of (\d+)`), "$1 of $2 pods are updated"},
	{regexp.MustCompile(`\bupdatedNumberScheduled is (\d+) of (\d+)`), "$1 of $2 pods are updated"},
	{regexp.MustCompile(`\bnumberAvailable is (\d+) of (\d+)`), "$1 of $2 pods are available"},
	{regexp.MustCompile(`\bavailableReplicas is (\d+) of (\d+)`), "$1 of $2 pods are available"},
	{regexp.MustCompile(`\bnumberUnavailable is 1\b`), "1 pod is not available"},
	{regexp.MustCompile(`\bnumberUnavailable is (\d+)`), "$1 pods are not available"},
	{regexp.MustCompile(`\bunavailableReplicas is 1\b`), "1 pod is not available"},
	{regexp.MustCompile(`\bunavailableReplicas is (\d+)`), "$1 pods are not available"},
	{regexp.MustCompile(`\bcurrentRevision is still \S+`), "the controller has not made the new revision the current one yet"},
	{regexp.MustCompile(`the controller has not seen generation \d+ yet \(observedGeneration \d+\)`), "the controller has not processed the latest change yet"},
}

// inWords is what a gate says, for people who do not know the fields of a status.
func inWords(why string) string {
	for _, p := range plainWords {
		why = p.field.ReplaceAllString(why, p.words)
	}
	return why
}
