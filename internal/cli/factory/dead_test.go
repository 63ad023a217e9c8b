package factory

import (
	"os"
	"testing"
)

// TestNoticeDeadServers_LeavesWhatTheUserHasSet: a server that hangs is noticed early, unless the environment says when.
func TestNoticeDeadServers_LeavesWhatTheUserHasSet(t *testing.T) {
	t.Setenv("HTTP2_READ_IDLE_TIMEOUT_SECONDS", "60")
	t.Setenv("HTTP2_PING_TIMEOUT_SECONDS", "") // it is restored in the end
	if err := os.Unsetenv("HTTP2_PING_TIMEOUT_SECONDS"); err != nil {
		t.Fatal(err)
	}
	noticeDeadServers()
	if idle, ping := os.Getenv("HTTP2_READ_IDLE_TIMEOUT_SECONDS"), os.Getenv("HTTP2_PING_TIMEOUT_SECONDS"); idle != "60" || ping != "5" {
		t.Errorf("idle %q, ping %q", idle, ping)
	}
}
