package ui

import (
	"fmt"
	"io"
	"time"
)

// moment is how long leaving may take without a word.
const moment = 500 * time.Millisecond

// patiently closes, and says what it waits for when that takes long: a cluster that
// does not answer is asked for some seconds to free the rollouts that were carried out
// here.
func patiently(said io.Writer, closes func() []string) []string {
	told := make(chan struct{})
	timer := time.AfterFunc(moment, func() {
		defer close(told)
		_, _ = fmt.Fprintln(said, "releasing rollouts that run here, so that others can resume them ...")
	})
	out := closes()
	if !timer.Stop() {
		<-told
	}
	return out
}
