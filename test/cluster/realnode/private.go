package realnode

import (
	"os"
	"strconv"
	"strings"
)

// fixed are folders that containerd, the network plugins and the kubelet write to
// whatever they are told. In the node's mount namespace each is one of its own
// folder.
var fixed = []string{"/run/containerd", "/var/lib/cni", "/var/lib/kubelet", "/var/log/containers"}

// enter replaces the fixed folders by private ones and runs a program.
const enter = `set -e
private=$1; shift
for dir in $FIXED; do
  mkdir -p "$private$dir"
  mount --bind "$private$dir" "$dir"
done
exec "$@"`

// inPrivate is the command line that runs a program in the node's own mount
// namespace, which the first program makes. All mounts of the node end with its
// last process, and the machine sees none of them.
func (n *Node) inPrivate(program []string) []string {
	if n.first != 0 {
		return append([]string{"nsenter", "--mount", "--target", strconv.Itoa(n.first), "--"}, program...)
	}
	script := strings.Replace(enter, "$FIXED", strings.Join(fixed, " "), 1)
	return append([]string{"unshare", "--mount", "--propagation", "private", "sh", "-c", script, "sh", n.path("private")}, program...)
}

// fixedFolders makes the fixed folders where the machine has none, as places to
// mount on. They stay, empty: removing one would also unmount what another node
// has mounted there.
func fixedFolders() error {
	for _, dir := range fixed {
		if err := os.MkdirAll(dir, 0o755); err != nil { //nolint:gosec // as the packages make them
			return err
		}
	}
	return nil
}
