package diagnose

import "regexp"

// plain are conditions of a status in words, without the names of its fields. The fields
// themselves are those of rules/*_done.go.
var plain = []struct {
	field *regexp.Regexp
	words string
}{
	{regexp.MustCompile(`\bupdatedAvailableReplicas is (\d+) of (\d+)`), "$1 of $2 updated pods are available"},
	{regexp.MustCompile(`\bupdatedReadyReplicas is (\d+) of (\d+)`), "$1 of $2 updated pods are ready"},
	{regexp.MustCompile(`\bexpectedUpdatedReplicas is (\d+) of (\d+)`), "the controller expects $1 updated pods, not $2 yet"},
	{regexp.MustCompile(`\bupdatedReplicas is (\d+) of (\d+)`), "$1 of $2 pods are updated"},
	{regexp.MustCompile(`\bupdatedReadyPods is (\d+) of (\d+)`), "$1 of $2 updated pods are ready"},
	{regexp.MustCompile(`\bupdatedPods is (\d+) of (\d+)`), "$1 of $2 pods are updated"},
	{regexp.MustCompile(`\bupdatedNumberScheduled is (\d+) of (\d+)`), "$1 of $2 pods are updated"},
	{regexp.MustCompile(`\bnumberAvailable is (\d+) of (\d+)`), "$1 of $2 pods are available"},
	{regexp.MustCompile(`\bavailableReplicas is (\d+) of (\d+)`), "$1 of $2 pods are available"},
	{regexp.MustCompile(`the controller has not seen generation \d+ yet \(observedGeneration \d+\)`), "the controller has not processed the latest change yet"},
}

// inWords is what a gate says, for people who do not know the fields of a status.
func inWords(why string) string {
	for _, p := range plain {
		why = p.field.ReplaceAllString(why, p.words)
	}
	return why
}
