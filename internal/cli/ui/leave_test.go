package ui

import (
	"bytes"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// TestInTime_NamesWhatItWaitsFor: connecting or leaving that takes long says what it waits for, and else nothing.
func TestInTime_NamesWhatItWaitsFor(t *testing.T) {
	for _, takes := range []time.Duration{0, quietly / 2, 10 * quietly} {
		synctest.Test(t, func(t *testing.T) {
			var said bytes.Buffer
			inTime(&said, "releasing ...", func() { time.Sleep(takes) })
			if told := strings.HasPrefix(said.String(), "releasing "); told != (takes > quietly) {
				t.Errorf("after %s it said %q", takes, said.String())
			}
		})
	}
}
