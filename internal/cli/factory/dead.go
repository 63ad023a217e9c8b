package factory

import "os"

// deadAfter is after how many seconds a connection to a server on which nothing comes is asked whether it is alive,
// and how long the answer may take. A watch tells nothing while nothing changes, so until then a server that hangs
// looks as one without news; client-go's own 30 and 15 are long for who watches a rollout.
var deadAfter = map[string]string{"HTTP2_READ_IDLE_TIMEOUT_SECONDS": "5", "HTTP2_PING_TIMEOUT_SECONDS": "5"}

// noticeDeadServers sets what client-go reads of the environment, unless the user has.
func noticeDeadServers() {
	for name, seconds := range deadAfter {
		if _, set := os.LookupEnv(name); !set {
			_ = os.Setenv(name, seconds) // it cannot fail for these names
		}
	}
}
