package ui

import (
	"bytes"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// TestLeave_NamesWhatItWaitsFor: leaving that takes long says what it waits for, and else nothing.
func TestLeave_NamesWhatItWaitsFor(t *testing.T) {
	for _, takes := range []time.Duration{0, closeMoment / 2, 10 * closeMoment} {
		synctest.Test(t, func(t *testing.T) {
			var said bytes.Buffer
			out := closeInTime(&said, func() []string { time.Sleep(takes); return []string{"without"} })
			if told := strings.HasPrefix(said.String(), "releasing "); told != (takes > closeMoment) || len(out) != 1 {
				t.Errorf("after %s it said %q, %v", takes, said.String(), out)
			}
		})
	}
}
